// Before a write: it is held once with what was learnt, and never by an outage.
import assert from "node:assert/strict";
import { test } from "node:test";
import { freshDir, loadPlugin, sessionParams } from "./host.js";
import { startStandin } from "./standin.js";

const BLOCK = "<openviking-context>\n## Agent Experiences\n### Experience: guard\n</openviking-context>";

/** @param {import("node:test").TestContext} t @param {Record<string, unknown>} [more] */
async function setUp(t, more = {}) {
  const sidecar = await startStandin();
  t.after(() => sidecar.stop());
  const config = { baseUrl: sidecar.url, spoolDir: freshDir(t), retryMinMs: 20, retryMaxMs: 40, ...more };
  sidecar.control.answer = ({ path }) => (path === "/assemble" ? { body: { messages: [], status: "assembled", contextBlock: BLOCK } } : undefined);
  return { sidecar, plugin: await loadPlugin(config) };
}

const write = (/** @type {string} */ path, toolName = "write") => ({ toolName, params: { path, content: "x" } });
const context = { ...sessionParams("a"), agentId: "main" };

test("a write is held once for each target, with what was learnt", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const held = await plugin.fire("before_tool_call", write("a.md"), context);
  assert.equal(held.block, true);
  assert.ok(held.blockReason.includes(BLOCK) && held.blockReason.includes("make the call again"));
  assert.equal(await plugin.fire("before_tool_call", write("a.md"), context), undefined);
  assert.equal((await plugin.fire("before_tool_call", write("b.md"), context)).block, true);
  assert.equal((await plugin.fire("before_tool_call", write("a.md"), { ...context, sessionKey: "agent:main:b" })).block, true);
  const { deadlineMs, ...asked } = sidecar.to("/assemble")[0]?.body;
  assert.deepEqual(asked, {
    ...context, phase: "transform", inject: "block", triggerHint: "write_preflight", messages: [],
    toolCall: { name: "write", arguments: { path: "a.md", content: "x" } },
  });
  assert.ok(deadlineMs > 0);
});

test("what reads, and the sidecar's own tools, are left alone", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  for (const name of ["read", "exec", "web_search", "memory_store", "ov_import"]) {
    assert.equal(await plugin.fire("before_tool_call", write("a.md", name), context), undefined);
  }
  assert.equal(sidecar.to("/assemble").length, 0);
});

test("a write goes on when nothing was learnt, when the sidecar is away, and when it answers nonsense", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  for (const body of [{ messages: [] }, { contextBlock: 7 }, "nonsense"]) {
    sidecar.control.answer = () => ({ body });
    assert.equal(await plugin.fire("before_tool_call", write(`${JSON.stringify(body)}.md`), context), undefined);
  }
  await sidecar.stop();
  const started = performance.now();
  for (let n = 0; n < 20; n++) assert.equal(await plugin.fire("before_tool_call", write(`${n}.md`), context), undefined);
  assert.ok(performance.now() - started < 1500, "all of them together took no longer than a turn's budget");
  assert.equal(await plugin.fire("before_tool_call", {}, {}), undefined);
});

test("it can be switched off", async (t) => {
  const { plugin } = await setUp(t, { writePreflight: false });
  assert.equal(await plugin.fire("before_tool_call", write("a.md"), context), undefined);
});
