// One request to the sidecar: bounded in time, never throwing, its outcome put into one of five kinds.
import { toJson } from "./messages.js";

/** @import { Config, Outcome } from "./types.d.ts" */

/** Statuses that say "this very request, never": the same bytes will be refused tomorrow too. */
const REJECTED = new Set([400, 409, 410, 411, 413, 414, 415, 422, 431]);
const BUSY = new Set([425, 429, 503]);
const DEFAULT_RETRY_AFTER_MS = 5_000;
const MAX_RETRY_AFTER_MS = 60_000;
/** Codes of a connection that died under a request: kept alive too long, or the sidecar restarted. */
const BROKEN_CONNECTION = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);

/**
 * @typedef {{timeoutMs: number, signal?: AbortSignal}} Limits
 * @typedef {(path: string, body: unknown, options: Limits) => Promise<Outcome>} Post
 * @typedef {(path: string, form: FormData, options: Limits) => Promise<Outcome>} Upload
 * @typedef {(path: string, options: Limits) => Promise<Outcome>} Get
 * @typedef {{post: Post, upload: Upload, get: Get, isHealthy: (timeoutMs: number) => Promise<boolean>}} Client
 */

/**
 * A client for one sidecar.
 *
 * @param {Config} config
 * @param {typeof fetch} [fetcher]
 * @returns {Client}
 */
export function createClient(config, fetcher = fetch) {
  const caller = callerHeaders(config);
  const headers = { ...caller, "Content-Type": "application/json" };

  /** @type {Post} */
  async function post(path, body, options) {
    const payload = toJson(body);
    if (payload === null) return { kind: "rejected", why: "the message can not be written as JSON" };
    return exchange(path, { method: "POST", headers, body: payload }, options);
  }

  /** @type {Upload} */
  async function upload(path, form, options) {
    return exchange(path, { method: "POST", headers: caller, body: form }, options);
  }

  /** @type {Get} */
  async function get(path, options) {
    return exchange(path, { headers: caller }, options);
  }

  /** @param {string} path @param {RequestInit} options @param {Limits} limits @returns {Promise<Outcome>} */
  async function exchange(path, options, { timeoutMs, signal }) {
    if (signal?.aborted) return { kind: "aborted", why: "aborted" };
    const limit = deadline(timeoutMs);
    const stop = signal ? AbortSignal.any([limit.signal, signal]) : limit.signal;
    const send = () => request(`${config.baseUrl}${path}`, { ...options, signal: stop });
    try {
      // Every path is safe to repeat: reads, turns (by their key), imports (by their place), ends and resets.
      return await send().catch((error) => {
        if (BROKEN_CONNECTION.has(codeOf(error)) && !stop.aborted) return send();
        throw error;
      });
    } catch (error) {
      if (signal?.aborted) return { kind: "aborted", why: "aborted" };
      return { kind: "down", why: limit.signal.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(error) };
    } finally {
      limit.clear();
    }
  }

  /** @param {string} url @param {RequestInit} options @returns {Promise<Outcome>} */
  async function request(url, options) {
    const response = await fetcher(url, { ...options, redirect: "error" });
    return outcomeOf(response, await response.text());
  }

  /** @type {Client["isHealthy"]} */
  async function isHealthy(timeoutMs) {
    const limit = deadline(timeoutMs);
    try {
      const response = await fetcher(`${config.baseUrl}/healthz`, { headers, signal: limit.signal, redirect: "error" });
      await response.arrayBuffer();
      return response.status === 200;
    } catch {
      return false;
    } finally {
      limit.clear();
    }
  }

  return { post, upload, get, isHealthy };
}

/** @param {Config} config @returns {Record<string, string>} */
function callerHeaders(config) {
  return {
    ...(config.token ? { Authorization: `Bearer ${config.token}` } : {}),
    ...(config.account ? { "X-OpenViking-Account": config.account } : {}),
    ...(config.user ? { "X-OpenViking-User": config.user } : {}),
  };
}

/**
 * Aborts when the time is over. A busy host runs late timers before it looks at the network, so an answer that is
 * already there gets one more round of the event loop.
 *
 * @param {number} ms
 */
function deadline(ms) {
  const controller = new AbortController();
  /** @type {NodeJS.Timeout} */
  let timer = setTimeout(() => {
    timer = setTimeout(() => controller.abort(new Error("deadline")), 10);
  }, Math.max(0, ms - 10));
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

/** @param {Response} response @param {string} text @returns {Outcome} */
function outcomeOf(response, text) {
  const body = parse(text);
  if (response.ok) {
    return body ? { kind: "ok", body } : { kind: "down", why: "the answer is not a JSON object: is this the sidecar?" };
  }
  const why = `HTTP ${response.status}${typeof body?.code === "string" ? ` ${body.code}` : ""}`;
  if (REJECTED.has(response.status)) {
    return { kind: "rejected", why: typeof body?.detail === "string" ? `${why}: ${body.detail.slice(0, 300)}` : why };
  }
  if (BUSY.has(response.status)) return { kind: "busy", why, retryAfterMs: retryAfter(response) };
  return { kind: "down", why };
}

/** @param {Response} response */
function retryAfter(response) {
  const seconds = Number(response.headers.get("Retry-After") ?? NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : DEFAULT_RETRY_AFTER_MS;
}

/** @param {string} text @returns {Record<string, any> | null} */
function parse(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** @param {any} error @returns {string} */
function codeOf(error) {
  return String(error?.cause?.code ?? error?.code ?? "");
}

/** @param {any} error */
function reasonOf(error) {
  return codeOf(error) || String(error?.cause?.message ?? error?.message ?? error);
}
