// A skill that is read: its memory follows the file's own text, and nothing changes where there is none, or the sidecar is away.
import assert from "node:assert/strict";
import { test } from "node:test";
import { freshDir, loadPlugin, sessionParams } from "./host.js";
import { startStandin } from "./standin.js";

const BLOCK = "<openviking-context>\n## Skill Memory: demo\n- Used once, 100% success\n</openviking-context>";
const HOW_TO = "---\nname: demo\n---\n# Demo\n\n\tDo it.\n\n";
const context = { ...sessionParams("a"), agentId: "main", runtime: "openclaw", runId: "r1" };

/** @param {import("node:test").TestContext} t @param {Record<string, unknown>} [more] */
async function setUp(t, more = {}) {
  const sidecar = await startStandin();
  t.after(() => sidecar.stop());
  const config = { baseUrl: sidecar.url, spoolDir: freshDir(t), retryMinMs: 20, retryMaxMs: 40, ...more };
  sidecar.control.answer = ({ path }) => (path === "/assemble" ? { body: { messages: [], status: "assembled", contextBlock: BLOCK } } : undefined);
  return { sidecar, plugin: await loadPlugin(config) };
}

/** @param {string} path @param {Record<string, unknown>} [more] */
const read = (path, more = {}) => ({
  toolCallId: "c1", toolName: "read", args: { path }, isError: false,
  result: { content: [{ type: "text", text: HOW_TO }], details: { kind: "text", content: HOW_TO } }, ...more,
});

test("the memory follows the file's own text, which stays byte for byte", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const event = read("/w/skills/demo/SKILL.md");
  const { result } = await plugin.after(event, context);
  assert.deepEqual(result, { content: [{ type: "text", text: `${HOW_TO}\n\n${BLOCK}` }], details: event.result.details });
  assert.equal(event.result.content[0]?.text, HOW_TO, "what the host has is not changed in place");
  const { deadlineMs, ...asked } = sidecar.to("/assemble")[0]?.body;
  assert.deepEqual(asked, {
    ...sessionParams("a"), agentId: "main", phase: "transform", inject: "block", triggerHint: "skill_load", messages: [],
    toolCall: { name: "read", arguments: { path: "/w/skills/demo/SKILL.md" } },
  });
  assert.ok(deadlineMs > 0);
});

test("any tool that names the file is asked about", async (t) => {
  const { plugin } = await setUp(t);
  const command = { toolName: "exec", args: { command: "cat skills/demo/SKILL.md" } };
  const nested = { toolName: "tool_call", args: { id: "read", args: { path: "skills/demo/SKILL.md" } } };
  for (const more of [command, nested]) assert.ok((await plugin.after(read("", more), context)).result);
});

test("what reads no skill, fails or gives no text is left alone and not asked about", async (t) => {
  const { sidecar, plugin } = await setUp(t);
  const skill = "/w/skills/demo/SKILL.md";
  const image = { content: [{ type: "image", data: "x", mimeType: "image/png" }] };
  for (const event of [read("/w/README.md"), read(skill, { isError: true }), read(skill, { result: image }), read(skill, { result: undefined }), {}]) {
    assert.equal(await plugin.after(event, context), undefined);
  }
  assert.equal(sidecar.to("/assemble").length, 0);
});

test("a result stays as it is when nothing was learnt, and when the sidecar is away, late or answers nonsense", async (t) => {
  const { sidecar, plugin } = await setUp(t, { recallTimeoutMs: 100 });
  const event = read("/w/skills/demo/SKILL.md");
  for (const body of [{ messages: [] }, { contextBlock: 7 }, "nonsense", { contextBlock: "x".repeat(100_000) }]) {
    sidecar.control.answer = () => ({ body });
    assert.equal(await plugin.after(event, context), undefined);
  }
  sidecar.control.answer = () => ({ hang: true });
  assert.equal(await plugin.after(event, context), undefined);
  await sidecar.stop();
  const started = performance.now();
  for (let n = 0; n < 20; n++) assert.equal(await plugin.after(event, context), undefined);
  assert.ok(performance.now() - started < 1500, "all of them together took no longer than a turn's budget");
});

test("it can be switched off, and a host without the seam is no trouble", async (t) => {
  const { plugin } = await setUp(t, { skillMemory: false });
  assert.equal(await plugin.after(read("/w/skills/demo/SKILL.md"), context), undefined);
});
