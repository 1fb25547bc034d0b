import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventually, freshDir, lettersIn, loadPlugin, sessionParams, turn } from "./host.js";
import { startStandin } from "./standin.js";

/** @param {import("node:test").TestContext} t @param {Record<string, unknown>} [more] */
async function world(t, more = {}) {
  const standin = await startStandin();
  t.after(() => standin.stop());
  const spoolDir = join(freshDir(t), "spool");
  const config = { baseUrl: standin.url, spoolDir, toolTimeoutMs: 1000, retryMinMs: 20, retryMaxMs: 20, ...more };
  return { standin, spoolDir, config, plugin: await loadPlugin(config) };
}

/** @param {any} result */
const textOf = (result) => result.content.map((/** @type {{text: string}} */ block) => block.text).join("");
const FACT = { text: "Mia prefers short answers.", category: "preferences" };

test("every tool of the manifest is registered, as the sidecar defines it", async (t) => {
  const { plugin } = await world(t);
  const read = (/** @type {string} */ name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));
  const definitions = read("tools.json");
  assert.ok(definitions.length >= 5);
  assert.deepEqual(plugin.toolNames(), definitions.map((/** @type {any} */ tool) => tool.name));
  assert.deepEqual(read("openclaw.plugin.json").contracts.tools, plugin.toolNames());
});

test("they can be switched off", async (t) => {
  const { plugin } = await world(t, { tools: false });
  assert.deepEqual(plugin.toolNames(), []);
});

test("a call says who calls, and its answer goes to the model as it is", async (t) => {
  const { plugin, standin } = await world(t);
  const context = { ...sessionParams("tools"), agentId: "main", requesterSenderId: "mia" };
  const result = await plugin.tool("memory_recall", { query: "answers" }, context);
  assert.equal(textOf(result), "did /tools/memory_recall");
  assert.deepEqual(result.details, { ok: true, reason: "ok", id: "m_1" });
  const [{ body } = assert.fail("no call")] = standin.to("/tools/memory_recall");
  assert.deepEqual([body.sessionId, body.sessionKey, body.agentId, body.senderId], ["id-tools", "agent:main:tools", "main", "mia"]);
  assert.deepEqual(body.arguments, { query: "answers" });
  assert.ok(body.deadlineMs > 0 && body.deadlineMs < 1000);
});

test("a mistake of the model comes back as what to do instead", async (t) => {
  const { plugin, standin } = await world(t);
  const text = "query is missing";
  standin.control.answer = () => ({ body: { ok: false, reason: "invalid_arguments", content: [{ type: "text", text }], details: {} } });
  for (const [name, params] of [["memory_recall", {}], ["memory_store", {}], ["memory_forget", {}], ["memory_forget", { id: "m_0" }]]) {
    const result = await plugin.tool(/** @type {string} */ (name), /** @type {object} */ (params));
    assert.equal(textOf(result), text);
    assert.equal(result.details.ok, false);
  }
});

test("what is stored in an outage waits on disk and arrives once, in order", async (t) => {
  const { plugin, standin, spoolDir } = await world(t);
  const port = standin.port;
  await standin.stop();
  for (const n of [1, 2]) {
    const result = await plugin.tool("memory_store", { ...FACT, text: `fact ${n}` });
    assert.match(textOf(result), /will be remembered/);
    assert.deepEqual(result.details, { ok: true, reason: "kept" });
  }
  assert.equal(lettersIn(spoolDir).length, 2);
  const again = await startStandin(port);
  t.after(() => again.stop());
  await eventually(() => lettersIn(spoolDir).length === 0, "the kept memories");
  assert.deepEqual(again.to("/tools/memory_store").map(({ body }) => body.arguments.text), ["fact 1", "fact 2"]);
});

test("it also survives the process", async (t) => {
  const { plugin, standin, spoolDir, config } = await world(t);
  const port = standin.port;
  await standin.stop();
  await plugin.tool("memory_store", FACT);
  const again = await startStandin(port);
  t.after(() => again.stop());
  const next = await loadPlugin({ ...config, retryMaxMs: 21 }); // other settings: a runtime of its own
  await next.fire("gateway_start", {}, {});
  await eventually(() => again.to("/tools/memory_store").length > 0, "the kept memory");
  await eventually(() => lettersIn(spoolDir).length === 0, "an empty spool");
});

test("a memory goes by turns of its session that wait, but not by another memory", async (t) => {
  const { plugin, standin, spoolDir } = await world(t, { retryMinMs: 60_000, retryMaxMs: 60_000 });
  standin.control.answer = ({ path }) => (path === "/after-turn" ? { status: 503, headers: { "Retry-After": "60" } } : null);
  await plugin.engine().commitTurn(turn("tools", 1));
  assert.equal(lettersIn(spoolDir).length, 1);
  assert.match(textOf(await plugin.tool("memory_store", FACT)), /did/);
  standin.control.answer = () => ({ status: 503 });
  assert.match(textOf(await plugin.tool("memory_store", { ...FACT, text: "older" })), /will be remembered/);
  standin.control.answer = () => null;
  assert.match(textOf(await plugin.tool("memory_store", { ...FACT, text: "newer" })), /will be remembered/);
});

test("what can not be done later is not promised", async (t) => {
  const { plugin, standin, spoolDir } = await world(t);
  await standin.stop();
  for (const [name, params] of /** @type {[string, object][]} */ ([
    ["memory_recall", { query: "x" }],
    ["memory_forget", { query: "short answers" }],
    ["ov_archive_expand", { archiveId: "archive_001" }],
    ["memory_store", { text: "  " }],
  ])) {
    const result = await plugin.tool(name, params);
    assert.match(textOf(result), /not done/);
    assert.equal(result.details.ok, false);
  }
  assert.deepEqual(lettersIn(spoolDir), []);
});

test("forgetting by id waits, and is done when it is gone already", async (t) => {
  const { plugin, standin, spoolDir } = await world(t);
  const port = standin.port;
  await standin.stop();
  assert.match(textOf(await plugin.tool("memory_forget", { id: "m_1" })), /kept on this machine/);
  const again = await startStandin(port);
  t.after(() => again.stop());
  again.control.answer = ({ path }) =>
    path.startsWith("/tools/") ? { body: { ok: false, reason: "not_found", content: [{ type: "text", text: "gone" }] } } : null;
  await eventually(() => lettersIn(spoolDir).length === 0, "the kept call");
  assert.ok(!readdirSync(spoolDir).includes("dead"));
});

test("a kept call that is refused later is put aside, and does not hold up the session's turns", async (t) => {
  const { plugin, standin, spoolDir } = await world(t);
  const port = standin.port;
  await standin.stop();
  await plugin.tool("memory_store", { ...FACT, category: "NOT ONE" });
  await plugin.engine().commitTurn(turn("tools", 1));
  const again = await startStandin(port);
  t.after(() => again.stop());
  again.control.answer = ({ path }) =>
    path.startsWith("/tools/") ? { body: { ok: false, reason: "invalid_arguments", content: [{ type: "text", text: "no" }] } } : null;
  await eventually(() => lettersIn(spoolDir).length === 0, "an empty spool");
  assert.equal(again.to("/after-turn").length, 1);
  assert.equal(readdirSync(join(spoolDir, "dead")).length, 1);
});

test("a sidecar that does not know a tool is not taken for one that is down", async (t) => {
  const { plugin, standin, spoolDir } = await world(t);
  standin.control.answer = ({ path }) => (path.startsWith("/tools/") ? { status: 404, body: { code: "not_found" } } : null);
  assert.match(textOf(await plugin.tool("memory_recall", { query: "x" })), /does not have this tool/);
  assert.match(textOf(await plugin.tool("memory_store", FACT)), /not done/);
  assert.deepEqual(lettersIn(spoolDir), []);
  standin.control.answer = () => null;
  assert.match(textOf(await plugin.tool("memory_recall", { query: "x" })), /did/);
});

test("an answer that is none, and a host that says nothing, are survived", async (t) => {
  const { plugin, standin } = await world(t);
  standin.control.answer = () => ({ body: { ok: true, content: "text" } });
  assert.match(textOf(await plugin.tool("memory_recall", { query: "x" })), /not done/);
  standin.control.answer = () => null;
  assert.match(textOf(await plugin.tool("memory_recall", { query: "x" }, {})), /did/);
});
