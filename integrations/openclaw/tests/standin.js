// A stand-in for the sidecar: remembers what it was told and answers as a test wishes.
import { createServer } from "node:http";

/** @typedef {{path: string, headers: import("node:http").IncomingHttpHeaders, body: any, raw: Buffer}} Request */
/** @typedef {{status?: number, headers?: Record<string, string>, body?: unknown, text?: string, hang?: boolean, drop?: boolean}} Answer */

/**
 * @param {number} [port]
 */
export async function startStandin(port = 0) {
  /** @type {Request[]} */
  const requests = [];
  const keys = new Set();
  /** @type {{answer: (request: Request) => Answer | undefined | null}} */
  const control = { answer: () => undefined };

  const server = createServer(async (incoming, response) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const isJson = incoming.headers["content-type"] === "application/json" && raw.length > 0;
    const request = { path: incoming.url ?? "", headers: incoming.headers, body: isJson ? JSON.parse(raw.toString()) : null, raw };
    requests.push(request);
    const answer = control.answer(request) ?? well(request);
    if (answer.hang) return;
    if (answer.drop) {
      incoming.socket.destroy();
      return;
    }
    response.writeHead(answer.status ?? 200, { "Content-Type": "application/json", ...answer.headers });
    response.end(answer.text ?? JSON.stringify(answer.body ?? {}));
  });

  /** @param {Request} request @returns {Answer} */
  function well({ path, body }) {
    if (path === "/healthz") return { body: { status: "ok" } };
    if (path === "/assemble") return { body: { status: "assembled", reason: "ok", messages: body.messages, estimatedTokens: 7 } };
    if (path === "/compact") return { body: { ok: true, compacted: true, reason: "commit_completed", result: { tokensBefore: 9 } } };
    if (path === "/resources" || path === "/skills" || path.startsWith("/resources/tasks/")) {
      return { status: 202, body: { uri: "viking://~/resources/guide", status: "ready", taskId: "i_1", detail: "" } };
    }
    if (path.startsWith("/tools/")) {
      return { body: { ok: true, reason: "ok", content: [{ type: "text", text: `did ${path}` }], details: { id: "m_1" } } };
    }
    if (path !== "/after-turn") return { body: { ok: true, reason: "ok" } };
    const status = keys.has(body.advancementKey) ? "duplicate" : "committed";
    keys.add(body.advancementKey);
    return { body: { status, reason: "ok" } };
  }

  await new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(undefined)));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    control,
    requests,
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    /** @param {string} path */
    to: (path) => requests.filter((request) => request.path === path),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
