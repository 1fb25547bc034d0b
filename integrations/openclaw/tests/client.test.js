import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../client.js";
import { readConfig } from "../config.js";
import { startStandin } from "./standin.js";

/** @import { TestContext } from "node:test" */

/** @param {TestContext} t @param {Record<string, unknown>} [config] */
async function connect(t, config = {}) {
  const sidecar = await startStandin();
  t.after(() => sidecar.stop());
  return { sidecar, client: createClient(readConfig({ baseUrl: sidecar.url, ...config })) };
}

const SOON = { timeoutMs: 5_000 };

test("a good answer comes back as it is, with our token and tenant sent along", async (t) => {
  const { sidecar, client } = await connect(t, { token: "secret", account: "acme", user: "alice" });
  const outcome = await client.post("/after-turn", { advancementKey: "k" }, SOON);
  assert.deepEqual(outcome, { kind: "ok", body: { status: "committed", reason: "ok" } });
  const headers = sidecar.requests[0]?.headers ?? {};
  assert.equal(headers.authorization, "Bearer secret");
  assert.equal(headers["x-openviking-account"], "acme");
  assert.equal(headers["x-openviking-user"], "alice");
});

for (const [status, kind] of /** @type {const} */ ([
  [400, "rejected"], [413, "rejected"], [422, "rejected"], [401, "down"], [403, "down"], [404, "down"],
  [429, "busy"], [503, "busy"], [500, "down"], [502, "down"],
])) {
  test(`status ${status} is ${kind}`, async (t) => {
    const { sidecar, client } = await connect(t);
    sidecar.control.answer = () => ({ status, body: { code: "some_code", detail: "the detail" } });
    const outcome = await client.post("/assemble", {}, SOON);
    assert.equal(outcome.kind, kind);
    assert.match("why" in outcome ? outcome.why : "", new RegExp(`HTTP ${status} some_code`));
  });
}

test("Retry-After is honoured, within reason", async (t) => {
  const { sidecar, client } = await connect(t);
  const waits = [];
  for (const value of ["2", "999999", "soon", undefined]) {
    sidecar.control.answer = () => ({ status: 503, headers: value === undefined ? undefined : { "Retry-After": value } });
    const outcome = await client.post("/after-turn", {}, SOON);
    waits.push(outcome.kind === "busy" ? outcome.retryAfterMs : null);
  }
  assert.deepEqual(waits, [2_000, 60_000, 5_000, 5_000]);
});

test("a hanging sidecar is given up when the time is over", async (t) => {
  const { sidecar, client } = await connect(t);
  sidecar.control.answer = () => ({ hang: true });
  assert.deepEqual(await client.post("/assemble", {}, { timeoutMs: 60 }), { kind: "down", why: "no answer within 60 ms" });
});

test("no one listening, an answer that is no JSON object, a redirect: all the same to the host", async (t) => {
  const { sidecar, client } = await connect(t);
  for (const text of ["<html>hello</html>", "[1]", "null", ""]) {
    sidecar.control.answer = () => ({ text });
    assert.equal((await client.post("/assemble", {}, SOON)).kind, "down");
  }
  sidecar.control.answer = () => ({ status: 302, headers: { Location: "http://127.0.0.1:9/" } });
  assert.equal((await client.post("/assemble", {}, SOON)).kind, "down");
  const nobody = createClient(readConfig({ baseUrl: "http://127.0.0.1:9" }));
  assert.equal((await nobody.post("/assemble", {}, SOON)).kind, "down");
});

test("a connection that broke under a request is tried once more", async (t) => {
  const { sidecar, client } = await connect(t);
  let calls = 0;
  sidecar.control.answer = () => (++calls === 1 ? { drop: true } : undefined);
  assert.equal((await client.post("/assemble", { messages: [] }, SOON)).kind, "ok");
  sidecar.control.answer = () => ({ drop: true });
  assert.equal((await client.post("/assemble", { messages: [] }, SOON)).kind, "down");
});

test("the caller can give up", async (t) => {
  const { sidecar, client } = await connect(t);
  const controller = new AbortController();
  sidecar.control.answer = () => {
    controller.abort();
    return { hang: true };
  };
  assert.equal((await client.post("/compact", {}, { ...SOON, signal: controller.signal })).kind, "aborted");
  assert.equal((await client.post("/compact", {}, { ...SOON, signal: controller.signal })).kind, "aborted");
});

test("what is no JSON is refused here, not thrown", async (t) => {
  const { sidecar, client } = await connect(t);
  /** @type {Record<string, unknown>} */
  const circular = {};
  circular.self = circular;
  assert.equal((await client.post("/assemble", circular, SOON)).kind, "rejected");
  assert.equal((await client.post("/assemble", { messages: [], big: 10n }, SOON)).kind, "ok");
  assert.equal(sidecar.requests[0]?.body.big, "10");
});

test("the health check says yes only to a 200", async (t) => {
  const { sidecar, client } = await connect(t);
  assert.equal(await client.isHealthy(5_000), true);
  sidecar.control.answer = () => ({ status: 500 });
  assert.equal(await client.isHealthy(5_000), false);
  sidecar.control.answer = () => ({ hang: true });
  assert.equal(await client.isHealthy(40), false);
});
