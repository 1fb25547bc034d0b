// What the model sees: the assembled past, the recalled block, the compacted session.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, freshDir, lettersIn, loadPlugin, sessionParams, turn } from "./host.js";
import { startStandin } from "./standin.js";

/** @import { TestContext } from "node:test" */

const BLOCK = "<openviking-context>\n## Long-term Memories\n- [profile] likes ultramarine\n</openviking-context>";

/** @param {TestContext} t @param {Record<string, unknown>} [more] */
async function setUp(t, more = {}) {
  const sidecar = await startStandin();
  t.after(() => sidecar.stop());
  const config = { baseUrl: sidecar.url, spoolDir: freshDir(t), retryMinMs: 20, retryMaxMs: 40, ...more };
  return { sidecar, config, plugin: await loadPlugin(config) };
}

const user = (/** @type {string} */ content) => ({ role: "user", content, timestamp: 1 });
const main = (/** @type {any[]} */ messages, more = {}) => ({
  ...sessionParams("a"), messages, tokenBudget: 1000, runtimeContext: undefined, ...more, // as OpenClaw names it
});

/** @param {Awaited<ReturnType<typeof startStandin>>} sidecar @param {unknown} body */
function answerAssemble(sidecar, body) {
  sidecar.control.answer = ({ path }) => (path === "/assemble" ? { body } : undefined);
}

test("the sidecar's assembly is what the model sees", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const summary = user("[Session History Summary]\nlong ago");
  answerAssemble(sidecar, { status: "assembled", messages: [summary, user("now")], estimatedTokens: 12, systemPromptAddition: "guide" });
  const params = main([user("long"), user("ago"), user("now")], { prompt: "next", model: "m", availableTools: new Set(["exec"]) });
  assert.deepEqual(await plugin.engine().assemble(params), {
    messages: [summary, user("now")],
    estimatedTokens: 12,
    systemPromptAddition: "guide",
  });
  const { deadlineMs, ...asked } = sidecar.to("/assemble")[0]?.body;
  assert.deepEqual(asked, {
    ...sessionParams("a"), agentId: "main", phase: "preflight", messages: params.messages,
    prompt: "next", tokenBudget: 1000, model: "m", availableTools: ["exec"],
  });
  assert.ok(deadlineMs > 1000 && deadlineMs < 1500, "a session's first request has the turn's time");
  await plugin.engine().assemble(params);
  assert.ok(sidecar.to("/assemble")[1]?.body.deadlineMs < 1000);
});

test("the sidecar is told where others read along", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const chats = [
    main([user("hi")], { runtimeContext: { chatType: "direct" } }),
    main([user("hi")], { runtimeContext: { chatType: "channel" } }),
    { ...main([user("hi")]), sessionKey: "agent:main:telegram:group:-100" },
  ];
  for (const params of chats) await plugin.engine().assemble(params);
  assert.deepEqual(
    sidecar.to("/assemble").map(({ body }) => body.runtimeContext?.chatType),
    ["direct", "channel", "group"],
  );
});

test("after an overflow the engine asks again, told by a compaction or by a new attempt", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const loopless = { ...sessionParams("a"), messages: [user("one")], tokenBudget: 1000 };
  const engine = plugin.engine();
  await engine.assemble(main([user("one")]));
  await engine.compact(sessionParams("a"));
  await engine.assemble(loopless);
  await engine.bootstrap(sessionParams("a"));
  await engine.assemble(loopless);
  await engine.assemble(loopless);
  assert.equal(sidecar.to("/assemble").length, 3);
});

test("images come back where they were", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const image = (/** @type {string} */ letter) => ({ role: "user", content: [{ type: "image", data: letter.repeat(2000), mimeType: "image/png" }] });
  const anthropic = { role: "user", content: [{ type: "image", source: { type: "base64", data: "C".repeat(2000) } }] };
  const openai = { role: "user", content: [{ type: "image_url", image_url: { url: `data:${"D".repeat(2000)}` } }] };
  sidecar.control.answer = ({ body }) => ({ body: { status: "assembled", messages: body.messages.slice(1), estimatedTokens: 1 } });
  const result = await plugin.engine().assemble(main([image("A"), image("B"), anthropic, openai]));
  assert.deepEqual(result.messages, [image("B"), anthropic, openai]);
  assert.ok(JSON.stringify(sidecar.to("/assemble")[0]?.body).length < 2000);
});

test("the loop's calls repeat the main call's answer without asking again, unless it became too long", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const engine = plugin.engine();
  const { messages } = await engine.assemble(main([user("one")]));
  const loop = { ...sessionParams("a"), messages, tokenBudget: 1000 };
  for (let n = 0; n < 3; n++) assert.deepEqual((await engine.assemble(loop)).messages, messages);
  assert.equal(sidecar.to("/assemble").length, 1);
  await engine.assemble({ ...loop, tokenBudget: 2 });
  assert.equal(sidecar.to("/assemble")[1]?.body.tokenBudget, 2);
  await engine.assemble(main([user("one")]));
  assert.equal(sidecar.to("/assemble").length, 3, "an attempt that is repeated asks again");
});

for (const [what, answer] of Object.entries({
  "an error": { status: 500 },
  "no JSON": { text: "<html>" },
  "no messages": { body: { status: "assembled" } },
  "an empty history": { body: { status: "assembled", messages: [] } },
  "broken messages": { body: { status: "assembled", messages: [{ content: "x" }] } },
  "a refusal": { status: 400, body: { code: "invalid_request" } },
  "a hang": { hang: true },
})) {
  test(`${what} leaves the host's own messages`, async (t) => {
    const { sidecar, plugin } = await setUp(t, { assembleTimeoutMs: 60 });
    sidecar.control.answer = () => answer;
    const messages = [user("one"), { role: "assistant", content: [{ type: "text", text: "two" }] }];
    const result = await plugin.engine().assemble(main(messages));
    assert.equal(result.messages, messages);
    assert.ok(result.estimatedTokens > 0);
    assert.equal(result.systemPromptAddition, undefined);
  });
}

test("recall goes in front of the prompt, once per run, for every copy of the plugin", async (t) => {
  const { sidecar, config, plugin } = await setUp(t);
  sidecar.control.answer = ({ path, body }) =>
    path === "/assemble" ? { body: { status: "assembled", messages: body.messages, estimatedTokens: 1, contextBlock: BLOCK } } : undefined;
  const copy = await loadPlugin(config);
  const context = { ...sessionParams("a"), agentId: "main", runId: "run-1", trigger: "user", senderId: "anna" };
  const history = [user("before"), { role: "assistant", content: [{ type: "text", text: "yes" }] }];
  const event = { prompt: "Which colour?", messages: history };
  const retried = { prompt: "Continue the current task from the existing transcript", messages: history };
  const answers = await Promise.all([
    plugin.fire("before_prompt_build", event, context),
    copy.fire("before_prompt_build", event, context),
    copy.fire("before_prompt_build", retried, context),
  ]);
  assert.deepEqual(answers, Array(3).fill({ prependContext: BLOCK }));
  assert.equal(sidecar.to("/assemble").length, 1);
  const { deadlineMs, ...asked } = sidecar.to("/assemble")[0]?.body;
  assert.ok(deadlineMs > 0);
  assert.deepEqual(asked, {
    ...sessionParams("a"), agentId: "main", senderId: "anna", runtimeContext: { trigger: "user" },
    phase: "transform", inject: "block", messages: [...history, { role: "user", content: "Which colour?" }],
  });
  await plugin.engine().commitTurn(turn("a", 1));
  assert.equal(sidecar.to("/after-turn")[0]?.body.senderId, "anna");
  await plugin.fire("before_prompt_build", event, { ...context, runId: "run-2" });
  assert.equal(sidecar.to("/assemble").length, 2);
});

test("no recall for a heartbeat, for an empty prompt, and when it is switched off", async (t) => {
  const { sidecar, config, plugin } = await setUp(t);
  const context = { ...sessionParams("a"), runId: "r" };
  const off = await loadPlugin({ ...config, recall: false });
  assert.equal(await plugin.fire("before_prompt_build", { prompt: "poll" }, { ...context, trigger: "heartbeat" }), undefined);
  assert.equal(await plugin.fire("before_prompt_build", { prompt: "" }, context), undefined);
  assert.equal(await off.fire("before_prompt_build", { prompt: "which colour?" }, context), undefined);
  assert.equal(sidecar.requests.length, 0);
});

test("cron and sub-agent runs are marked", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const asked = () => sidecar.requests.at(-1)?.body;
  const cron = { sessionId: "c", sessionKey: "agent:second:cron:job:run:c", runId: "1", trigger: "cron" };
  await plugin.fire("before_prompt_build", { prompt: "[cron:job] sum up the day", messages: [] }, cron);
  assert.deepEqual(asked().runtimeContext, { isCron: true, automationKind: "cron", trigger: "cron" });
  assert.deepEqual([asked().agentId, asked().triggerHint], ["second", "cron_start"]);
  assert.equal(asked().automation, undefined);
  await plugin.fire("before_prompt_build", { prompt: "[cron:job nightly check] go", messages: [] }, { ...cron, runId: "1b" });
  assert.deepEqual(asked().automation, { name: "nightly check" });
  const next = async (/** @type {string} */ runId) => {
    await plugin.fire("before_prompt_build", { prompt: "[cron:job nightly check] go", messages: [] }, { ...cron, runId });
    return asked().automation;
  };
  await plugin.fire("cron_changed", { action: "finished", jobId: "job", completionStatus: "failed", error: "login timed out" }, {});
  await plugin.fire("cron_changed", { action: "started", jobId: "job" }, {});
  assert.deepEqual(await next("1c"), { name: "nightly check", lastError: "login timed out" });
  await plugin.fire("cron_changed", { action: "finished", jobId: "job", completionStatus: "succeeded" }, {});
  assert.deepEqual(await next("1d"), { name: "nightly check" });
  await plugin.engine().prepareSubagentSpawn({ childSessionKey: "agent:main:subagent:s", parentSessionKey: "agent:main:a" });
  const child = { sessionId: "s", sessionKey: "agent:main:subagent:s", runId: "2", trigger: "user" };
  await plugin.fire("before_prompt_build", { prompt: "[Subagent Task] do it", messages: [] }, child);
  assert.deepEqual([asked().triggerHint, asked().parentSession], ["subagent_start", "agent:main:a"]);
  await plugin.fire("before_prompt_build", { prompt: "go on", messages: [user("x")] }, { ...child, runId: "3" });
  assert.equal(asked().triggerHint, undefined);
  await plugin.engine().commitTurn(turn("a", 1, { isHeartbeat: true }));
  assert.deepEqual([asked().isHeartbeat, asked().runtimeContext.automationKind], [true, "heartbeat"]);
});

test("a long history is not sent whole for a recall", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const messages = Array.from({ length: 500 }, (_, n) => user(`${n} ${"x".repeat(20_000)}`));
  await plugin.fire("before_prompt_build", { prompt: "which?", messages }, { ...sessionParams("a"), runId: "r" });
  const sent = sidecar.to("/assemble")[0]?.body.messages;
  assert.ok(JSON.stringify(sent).length < 300_000);
  assert.deepEqual(sent.slice(-2), [messages.at(-1), { role: "user", content: "which?" }]);
});

test("compaction is handed on, with all that the host said about it", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const result = { summary: "short", firstKeptEntryId: "archive_001", tokensBefore: 900, tokensAfter: 90, details: {} };
  sidecar.control.answer = () => ({ body: { ok: true, compacted: true, reason: "commit_completed", result, taskId: "t" } });
  const params = {
    ...sessionParams("a"), agentId: "main", tokenBudget: 1000, currentTokenCount: 900, force: true,
    compactionTarget: "budget", customInstructions: "keep the colours", runtimeContext: { trigger: "manual" },
  };
  assert.deepEqual(await plugin.engine().compact(params), { ok: true, compacted: true, reason: "commit_completed", result });
  const { deadlineMs, ...asked } = sidecar.requests[0]?.body;
  assert.deepEqual(asked, params);
  assert.ok(deadlineMs > 60_000);
});

test("after a compaction in mid-turn the next attempt has the turn's time to itself", async (t) => {
  const { sidecar, plugin } = await setUp(t, { turnBudgetMs: 400, assembleTimeoutMs: 300 });
  const engine = plugin.engine();
  sidecar.control.answer = () => ({ hang: true });
  await engine.assemble(main([user("one")]));
  sidecar.control.answer = () => undefined;
  await eventually(() => sidecar.to("/healthz").length > 0, "a look in the background");
  await engine.assemble(main([user("one")])); // closes the outage with what little time is left
  await engine.compact(main([]));
  await engine.assemble(main([user("one")]));
  assert.ok(sidecar.to("/assemble").at(-1)?.body.deadlineMs > 300);
});

test("a compaction that failed says so; one that was aborted ends at once", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  sidecar.control.answer = () => ({ body: { ok: false, compacted: false, reason: "commit_failed" } });
  assert.deepEqual(await plugin.engine().compact(sessionParams("a")), { ok: false, compacted: false, reason: "commit_failed" });
  sidecar.control.answer = () => ({ hang: true });
  const params = { ...sessionParams("a"), abortSignal: AbortSignal.timeout(30) };
  assert.deepEqual(await plugin.engine().compact(params), { ok: false, compacted: false, reason: "aborted" });
  sidecar.control.answer = () => ({ status: 500 });
  const failed = await plugin.engine().compact(sessionParams("a")); // no host here that could do it instead
  assert.deepEqual([failed.ok, failed.compacted, failed.reason], [false, false, "HTTP 500"]);
});

test("a reset is told once, ends are told once, restarts are no ends", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const context = { ...sessionParams("a"), agentId: "main" };
  const told = () => sidecar.requests.map((request) => request.path);
  const end = (/** @type {string} */ reason, more = {}) => plugin.fire("session_end", { ...sessionParams("a"), reason, ...more }, context);

  await plugin.fire("before_reset", { reason: "reset" }, context);
  await end("reset", { nextSessionId: "id-a" });
  assert.deepEqual(told(), ["/sessions/reset"]);
  await end("daily", { nextSessionId: "id-a" });
  assert.deepEqual(told(), ["/sessions/reset", "/sessions/reset"], "the id lives on: a new epoch");
  for (const reason of ["compaction", "shutdown", "restart"]) await end(reason);
  assert.equal(told().length, 2);
  await end("idle", { nextSessionId: "another" });
  await end("deleted");
  assert.deepEqual(told().slice(2), ["/sessions/end"]);
  await plugin.engine().commitTurn(turn("a", 1));
  await end("deleted");
  assert.deepEqual(told().slice(3), ["/after-turn", "/sessions/end"]);
});

test("a sub-agent's end is told by its session's id, also to another engine instance", async (t) => {
  const { sidecar, config, plugin } = await setUp(t);
  await plugin.engine().commitTurn(turn("subagent:kid", 1));
  const copy = await loadPlugin(config);
  await copy.engine().onSubagentEnded({ childSessionKey: "agent:main:subagent:kid", reason: "completed" });
  await copy.engine().onSubagentEnded({ childSessionKey: "agent:main:subagent:stranger", reason: "swept" });
  assert.deepEqual(sidecar.to("/sessions/end").map(({ body }) => body), [{ ...sessionParams("subagent:kid"), agentId: "main" }]);
});

test("a sub-agent's turns say whose child their session is, also from another engine instance", async (t) => {
  const { sidecar, config, plugin } = await setUp(t);
  const spawned = { parentSessionKey: sessionParams("a").sessionKey, childSessionKey: sessionParams("subagent:kid").sessionKey };
  assert.equal(await plugin.engine().prepareSubagentSpawn({ ...spawned, contextMode: "isolated" }), undefined);
  const copy = await loadPlugin(config);
  await copy.engine().commitTurn(turn("subagent:kid", 1));
  await copy.engine().commitTurn(turn("a", 1));
  const parents = sidecar.to("/after-turn").map(({ body }) => body.parentSession);
  assert.deepEqual(parents, [spawned.parentSessionKey, undefined]);
});

test("a reset that could not be told waits behind the turns, and the old past stays away meanwhile", async (t) => {
  const { sidecar, config, plugin } = await setUp(t);
  sidecar.control.answer = ({ path }) => (path === "/assemble" || path === "/healthz" ? undefined : { status: 503, headers: { "Retry-After": "0" } });
  await plugin.engine().commitTurn(turn("a", 1));
  await plugin.fire("before_reset", {}, sessionParams("a"));
  assert.deepEqual((await plugin.engine().assemble(main([]))).messages, []);
  assert.equal(sidecar.to("/assemble").length, 0);
  await plugin.engine().commitTurn(turn("a", 2));
  sidecar.control.answer = () => undefined;
  const before = sidecar.requests.length;
  await eventually(() => lettersIn(config.spoolDir).length === 0, "an empty spool");
  const told = sidecar.requests.slice(before).map(({ path, body }) => body?.advancementKey ?? path);
  assert.deepEqual(told.slice(-3), ["a-1", "/sessions/reset", "a-2"]);
});

test("the note beside a pasted transcript reaches the model with the block, and without one", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const note = "<ingest-reply-assist>\nacknowledge it\n</ingest-reply-assist>";
  const context = { ...sessionParams("a"), runId: "run-1" };
  for (const [block, expected] of [[BLOCK, `${BLOCK}\n\n${note}`], [undefined, note]]) {
    answerAssemble(sidecar, { status: "assembled", messages: [], estimatedTokens: 1, contextBlock: block, systemPromptAddition: note });
    context.runId += "+";
    assert.deepEqual(await plugin.fire("before_prompt_build", { prompt: "Ann: hi\nBob: hello" }, context), { prependContext: expected });
  }
});

test("a backend that is away behind a healthy sidecar is said once, and once that it is back", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const recall = (/** @type {string} */ reason, /** @type {string[]} */ degraded = []) => ({ status: "passthrough", reason, messages: [], estimatedTokens: 1, recall: { degraded } });
  let run = 0;
  const ask = async (/** @type {any} */ body) => {
    answerAssemble(sidecar, body);
    await plugin.fire("before_prompt_build", { prompt: "Which tea?" }, { ...sessionParams("a"), runId: `run-${++run}` });
  };
  await ask(recall("no_recall_hits"));
  assert.deepEqual(plugin.log, []);
  await ask(recall("openviking_unavailable", ["memories:openviking_unavailable"]));
  await ask(recall("ok", ["experiences:openviking_unavailable"]));
  answerAssemble(sidecar, { status: "assembled", reason: "ok", messages: [user("kept by the sidecar")], estimatedTokens: 1 });
  await plugin.engine().assemble(main([user("one")]));
  await ask(recall("openviking_rejected"));
  await ask(recall("deadline_exceeded"));
  assert.equal(plugin.log.length, 1, "one line while it lasts");
  assert.match(plugin.log[0] ?? "", /^warn .*backend does not \(openviking_unavailable\)/);
  for (let n = 0; n < 2; n++) await ask(recall("no_recall_hits"));
  assert.equal(plugin.log.length, 2);
  assert.match(plugin.log[1] ?? "", /^info .*is back/);
  await ask(recall("backend_unavailable"));
  assert.match(plugin.log[2] ?? "", /^warn .*backend does not \(backend_unavailable\)/);
});
