// Turns are never lost, never doubled and arrive in order, whatever the sidecar does meanwhile.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventually, fillDisk, freshDir, lettersIn, loadPlugin, sessionParams, turn } from "./host.js";
import { startStandin } from "./standin.js";

/** @import { TestContext } from "node:test" */

const FAST = { retryMinMs: 20, retryMaxMs: 40 };

/** @param {TestContext} t @param {Record<string, unknown>} [more] */
async function setUp(t, more = {}) {
  const sidecar = await startStandin();
  t.after(() => sidecar.stop());
  const config = { baseUrl: sidecar.url, spoolDir: freshDir(t), ...FAST, ...more };
  return { sidecar, config, plugin: await loadPlugin(config) };
}

/** @param {Awaited<ReturnType<typeof startStandin>>} sidecar */
const keysAt = (sidecar) => sidecar.to("/after-turn").map((request) => request.body.advancementKey);

test("a turn goes straight to the sidecar, whole", async (t) => {
  const { sidecar, config, plugin } = await setUp(t);
  const params = turn("a", 1);
  assert.deepEqual(await plugin.engine().commitTurn(params), { status: "committed" });
  assert.deepEqual(await plugin.engine().commitTurn(params), { status: "duplicate" });
  assert.deepEqual(sidecar.to("/after-turn")[0]?.body, {
    ...sessionParams("a"),
    agentId: "main",
    runtimeContext: { tokenBudget: 9000 },
    advancementKey: "a-1",
    messages: params.messages,
    prePromptMessageCount: 0,
    isHeartbeat: false,
    tokenBudget: 9000,
  });
  assert.deepEqual(lettersIn(config.spoolDir), []);
});

test("an outage over five turns and a restart of the host in the middle: all arrive once, in order", async (t) => {
  const { sidecar, config } = await setUp(t);
  await sidecar.stop();
  const before = await loadPlugin(config);
  for (const n of [1, 2, 3]) assert.deepEqual(await before.engine().commitTurn(turn("a", n)), { status: "committed" });
  const after = await loadPlugin({ ...config, recallTimeoutMs: 999 }); // another configuration: nothing is shared but the disk
  for (const n of [4, 5]) await after.engine().commitTurn(turn("a", n));
  assert.equal(lettersIn(config.spoolDir).length, 5);

  const again = await startStandin(sidecar.port);
  t.after(() => again.stop());
  await after.fire("gateway_start", {}, {});
  await eventually(() => lettersIn(config.spoolDir).length === 0, "an empty spool");
  assert.deepEqual([...new Set(keysAt(again))], ["a-1", "a-2", "a-3", "a-4", "a-5"]);
  assert.deepEqual(await after.engine().commitTurn(turn("a", 6)), { status: "committed" });
  assert.equal(keysAt(again).at(-1), "a-6");
});

test("a turn whose answer was lost is not doubled: its key is the same the second time", async (t) => {
  const { sidecar, config, plugin } = await setUp(t, { commitTimeoutMs: 60 });
  let hang = true;
  sidecar.control.answer = ({ path }) => (path === "/after-turn" && hang ? { hang: true } : undefined);
  assert.deepEqual(await plugin.engine().commitTurn(turn("a", 1)), { status: "committed" });
  hang = false;
  await eventually(() => lettersIn(config.spoolDir).length === 0, "an empty spool");
  assert.deepEqual(new Set(keysAt(sidecar)), new Set(["a-1"]));
});

test("nothing newer of a session overtakes what waits; other sessions do not wait", async (t) => {
  const { sidecar, config, plugin } = await setUp(t);
  let full = true;
  sidecar.control.answer = ({ path, body }) =>
    full && path === "/after-turn" && body.sessionKey === "agent:main:a"
      ? { status: 503, headers: { "Retry-After": "0" }, body: { code: "outbox_full" } }
      : undefined;
  for (const n of [1, 2]) await plugin.engine().commitTurn(turn("a", n));
  assert.deepEqual(await plugin.engine().commitTurn(turn("b", 1)), { status: "committed" });
  assert.ok(keysAt(sidecar).includes("b-1"));
  assert.ok(!keysAt(sidecar).includes("a-2"));
  full = false;
  await eventually(() => lettersIn(config.spoolDir).length === 0, "an empty spool");
  assert.deepEqual(keysAt(sidecar).filter((key) => key === "a-2"), ["a-2"]);
  assert.ok(keysAt(sidecar).lastIndexOf("a-1") < keysAt(sidecar).indexOf("a-2"));
});

test("a turn that is refused for good is put aside, said once, and blocks nothing", async (t) => {
  const { sidecar, config, plugin } = await setUp(t);
  const refuse = (/** @type {any} */ { body }) => (body?.advancementKey === "a-2" ? { status: 422, body: { code: "idempotency_key_reused" } } : undefined);
  sidecar.control.answer = refuse;
  for (const n of [1, 2, 3]) assert.deepEqual(await plugin.engine().commitTurn(turn("a", n)), { status: "committed" });
  assert.deepEqual(keysAt(sidecar), ["a-1", "a-2", "a-3"]);

  sidecar.control.answer = () => ({ status: 500 });
  for (const n of [4, 2, 5]) await plugin.engine().commitTurn(turn("a", n));
  sidecar.control.answer = refuse;
  await eventually(() => lettersIn(config.spoolDir).length === 0, "an empty spool");
  assert.equal(keysAt(sidecar).at(-1), "a-5");
  assert.equal(readdirSync(join(config.spoolDir, "dead")).length, 2);
  assert.equal(plugin.log.filter((line) => line.includes("put aside")).length, 2);
});

test("something else that answers 200 at the sidecar's address gets nothing confirmed", async (t) => {
  const { sidecar, config, plugin } = await setUp(t);
  sidecar.control.answer = ({ path }) => (path === "/after-turn" ? { body: { hello: "world" } } : undefined);
  await plugin.engine().commitTurn(turn("a", 1));
  assert.equal(lettersIn(config.spoolDir).length, 1);
  sidecar.control.answer = () => undefined;
  await eventually(() => lettersIn(config.spoolDir).length === 0, "an empty spool");
});

test("an outage costs one time-out and one line in the log; its end one line more", async (t) => {
  const { sidecar, plugin } = await setUp(t, { assembleTimeoutMs: 80, retryMinMs: 60_000, retryMaxMs: 60_000 });
  sidecar.control.answer = () => ({ hang: true });
  for (const n of [1, 2, 3, 4]) {
    const engine = plugin.engine();
    const messages = [{ role: "user", content: "x" }];
    assert.deepEqual((await engine.assemble({ ...sessionParams("a"), messages, runtimeContext: {} })).messages, messages);
    await engine.commitTurn(turn("a", n));
  }
  assert.equal(sidecar.requests.filter((request) => request.path !== "/healthz").length, 1);
  assert.equal(plugin.log.filter((line) => line.startsWith("warn")).length, 1);
});

test("back by itself, and said so once", async (t) => {
  const { sidecar, config, plugin } = await setUp(t);
  sidecar.control.answer = () => ({ status: 500 });
  for (const n of [1, 2]) await plugin.engine().commitTurn(turn("a", n));
  sidecar.control.answer = () => undefined;
  await eventually(() => lettersIn(config.spoolDir).length === 0, "an empty spool");
  assert.equal(plugin.log.filter((line) => line.includes("is back")).length, 1);
  assert.equal(plugin.log.filter((line) => line.includes("out of use")).length, 1);
});

test("all calls of a turn share one time budget", async (t) => {
  const { sidecar, plugin } = await setUp(t, { turnBudgetMs: 60, assembleTimeoutMs: 1000 });
  sidecar.control.answer = ({ path, body }) =>
    path === "/assemble" ? { body: { status: "passthrough", messages: body.messages, estimatedTokens: 1 } } : undefined;
  const engine = plugin.engine();
  await engine.assemble({ ...sessionParams("a"), messages: [], runtimeContext: {} });
  assert.ok(sidecar.to("/assemble")[0]?.body.deadlineMs <= 60);
  sidecar.control.answer = () => ({ hang: true });
  await plugin.engine().assemble({ ...sessionParams("a"), messages: [], runtimeContext: {} });
  await plugin.fire("before_prompt_build", { prompt: "what was it?" }, { ...sessionParams("a"), runId: "r" });
  assert.equal(sidecar.to("/assemble").length, 2, "nothing was left for the recall");
});

test("images stay with the host", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const data = "A".repeat(5_000);
  const messages = [{ role: "user", content: [{ type: "text", text: "see" }, { type: "image", data, mimeType: "image/png" }] }];
  await plugin.engine().commitTurn(turn("a", 1, { messages }));
  const sent = sidecar.to("/after-turn")[0]?.body.messages[0].content[1];
  assert.ok(sent.data.length < 50);
  assert.equal(sent.mimeType, "image/png");
  assert.equal(messages[0]?.content[1]?.data, data, "the host's own message is untouched");
});

test("what a full spool did not take comes from the history, once the spool is empty", async (t) => {
  const { sidecar, config, plugin } = await setUp(t, { spoolMaxFiles: 1 });
  await sidecar.stop();
  const turns = [1, 2, 3].map((n) => turn("a", n));
  for (const params of turns) assert.deepEqual(await plugin.engine().commitTurn(params), { status: "committed" });
  assert.equal(plugin.log.filter((line) => line.includes("the spool is full")).length, 1);

  const again = await startStandin(sidecar.port);
  t.after(() => again.stop());
  await eventually(() => lettersIn(config.spoolDir).length === 0, "an empty spool");
  const history = turns.flatMap(({ messages }) => messages);
  const assemble = () => plugin.engine().assemble({ ...sessionParams("a"), messages: history, runtimeContext: {} });
  await assemble();
  await eventually(() => again.to("/after-turn").length === 2, "the history");
  const told = again.to("/after-turn").at(-1)?.body;
  assert.deepEqual(told.messages, history);
  assert.ok(!("advancementKey" in told) && !("prePromptMessageCount" in told), "the sidecar tells what is new in it");
  await assemble();
  await plugin.engine().commitTurn(turn("a", 4));
  assert.deepEqual(keysAt(again), ["a-1", undefined, "a-4"]);
});

test("turns that a full disk did not take are on it once there is room, before the sidecar is back", async (t) => {
  const { sidecar, config, plugin } = await setUp(t);
  await sidecar.stop();
  const makeRoom = await fillDisk(t);
  for (const n of [1, 2, 3]) assert.deepEqual(await plugin.engine().commitTurn(turn("a", n)), { status: "committed" });
  assert.deepEqual(lettersIn(config.spoolDir), []);
  makeRoom();
  await eventually(() => lettersIn(config.spoolDir).length === 3, "the letters on the disk");

  const again = await startStandin(sidecar.port);
  t.after(() => again.stop());
  const after = await loadPlugin({ ...config, recallTimeoutMs: 999 });
  await after.fire("gateway_start", {}, {});
  await eventually(() => lettersIn(config.spoolDir).length === 0, "an empty spool");
  assert.deepEqual([...new Set(keysAt(again))], ["a-1", "a-2", "a-3"]);
});

test("a turn that was delivered from memory leaves nothing to be taken from the history", async (t) => {
  const { sidecar, config, plugin } = await setUp(t);
  sidecar.control.answer = () => ({ status: 500 });
  await fillDisk(t);
  await plugin.engine().commitTurn(turn("a", 1));
  assert.equal(readdirSync(join(config.spoolDir, "incomplete")).length, 1);
  sidecar.control.answer = () => undefined;
  await eventually(() => plugin.log.some((line) => line.includes("delivered")), "the delivery");
  await plugin.engine().assemble({ ...sessionParams("a"), messages: turn("a", 1).messages, runtimeContext: {} });
  await plugin.engine().commitTurn(turn("a", 2));
  assert.deepEqual([...new Set(keysAt(sidecar))], ["a-1", "a-2"]);
  assert.deepEqual(readdirSync(join(config.spoolDir, "incomplete")), []);
});

test("a refused turn that was only in memory is put aside", async (t) => {
  const { sidecar, config, plugin } = await setUp(t);
  sidecar.control.answer = () => ({ status: 500 });
  const makeRoom = await fillDisk(t);
  await plugin.engine().commitTurn(turn("a", 1));
  sidecar.control.answer = ({ path }) => (path === "/after-turn" ? { status: 422, body: { code: "invalid" } } : undefined);
  await eventually(() => plugin.log.some((line) => line.includes("put aside")), "the refusal");
  makeRoom();
  await plugin.engine().commitTurn(turn("b", 1));
  await eventually(() => lettersIn(join(config.spoolDir, "dead")).length === 2, "both refused turns");
});

for (const [what, fill, more] of /** @type {const} */ ([
  ["a full disk", fillDisk, {}],
  ["a full spool", async () => () => {}, { spoolMaxFiles: 1 }],
])) {
  test(`what ${what} did not take comes from the history after a restart`, async (t) => {
    const { sidecar, config } = await setUp(t, more);
    const broken = await startStandin();
    t.after(() => broken.stop());
    broken.control.answer = () => ({ status: 500 });
    const before = await loadPlugin({ ...config, baseUrl: broken.url });
    const turns = [1, 2].map((n) => turn("a", n));
    await fill(t); // to the test's end: what is in the memory of the first process never comes from there
    for (const params of turns) assert.deepEqual(await before.engine().commitTurn(params), { status: "committed" });

    const after = await loadPlugin(config);
    await after.fire("gateway_start", {}, {});
    await eventually(() => lettersIn(config.spoolDir).length === 0, "an empty spool");
    const history = turns.flatMap(({ messages }) => messages);
    const assemble = (/** @type {string} */ name) => after.engine().assemble({ ...sessionParams(name), messages: history, runtimeContext: {} });
    await assemble("b");
    await assemble("a");
    const told = () => sidecar.to("/after-turn").filter(({ body }) => !("advancementKey" in body));
    await eventually(() => told().length === 1, "the history");
    assert.deepEqual(told()[0]?.body.messages, history);
    await after.engine().commitTurn(turn("a", 3));
    await assemble("a");
    await after.engine().commitTurn(turn("a", 4));
    assert.equal(told().length, 1, "it is looked at once");
    assert.equal(told()[0]?.body.sessionId, "id-a");
  });
}

test("a reset is told even when the spool is full of turns", async (t) => {
  const { sidecar, config, plugin } = await setUp(t, { spoolMaxFiles: 1 });
  await sidecar.stop();
  await plugin.engine().commitTurn(turn("a", 1));
  await plugin.fire("before_reset", {}, sessionParams("a"));
  assert.equal(lettersIn(config.spoolDir).length, 2);
});

test("capture switched off: nothing is told", async (t) => {
  const { sidecar, plugin } = await setUp(t, { capture: false });
  assert.deepEqual(await plugin.engine().commitTurn(turn("a", 1)), { status: "committed" });
  assert.equal(sidecar.requests.length, 0);
});

test("whatever the host passes, nothing throws", async (t) => {
  const { plugin } = await setUp(t);
  for (const params of [{}, { messages: null }, { messages: [null, 1, "x"] }, { ...sessionParams("a"), messages: [{}] }]) {
    const engine = plugin.engine();
    assert.equal(typeof (await engine.commitTurn(params)).status, "string");
    assert.ok(Array.isArray((await engine.assemble(params)).messages));
    assert.equal(typeof (await engine.compact(params)).ok, "boolean");
    await engine.onSubagentEnded(params);
    assert.equal(await engine.prepareSubagentSpawn(params), undefined);
  }
  for (const hook of ["before_prompt_build", "before_reset", "session_end", "gateway_start"]) {
    await plugin.fire(hook, undefined, undefined);
    await plugin.fire(hook, { prompt: 7, messages: "no" }, { sessionKey: 7 });
  }
});

test("what the host appends to the assistant's last message is handed over once, before the next turn", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const part = (/** @type {string} */ text) => ({ type: "text", text });
  const history = (/** @type {string[]} */ ...texts) => [
    { role: "user", content: "Send a kid.", timestamp: 1 },
    { role: "assistant", content: texts.map(part), timestamp: 2 },
  ];
  const assemble = (/** @type {any[]} */ messages) => plugin.engine().assemble({ ...sessionParams("a"), messages, runtimeContext: undefined });
  await assemble(history("on its way"));
  assert.equal(sidecar.to("/after-turn").length, 0);
  for (let n = 0; n < 2; n++) await assemble(history("on its way", "the kid is done"));
  await plugin.engine().commitTurn(turn("a", 1));
  await assemble(history("on its way", "the kid is done", "and tidy"));
  await eventually(() => sidecar.to("/after-turn").length === 3, "the second part");
  const [first, second, third] = sidecar.to("/after-turn").map((request) => request.body);
  assert.deepEqual(first, { ...sessionParams("a"), agentId: "main", messages: history("on its way", "the kid is done").slice(1) });
  assert.equal(second.advancementKey, "a-1");
  assert.equal(third.messages[0].content.length, 3);
});
