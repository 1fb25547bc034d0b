// Whether the sidecar may be asked. After a failure nobody asks until a probe in the background finds it well again,
// so that an outage costs the host's turns one time-out, not one each. Says so once, and once when it is over.
import { PLUGIN_ID } from "./config.js";

/** @import { Logger } from "./types.d.ts" */

/** A failure this soon after the pause ended lengthens the next: the health check alone is not to be trusted then. */
const RELAPSE_MS = 60_000;

/** Reason codes of the sidecar that say its backend does not serve it. */
const BACKEND_TROUBLE = /(?:^|:)(?:openviking|backend)_(?:unavailable|rejected)$/;

/**
 * Says once that the sidecar answers without its backend, and once that the backend is back. What preflight
 * assembled may come from the sidecar's own store, so its `ok` proves nothing.
 *
 * @param {{baseUrl: string, logger: () => Logger}} options
 */
export function createBackendWatch({ baseUrl, logger }) {
  let isSaid = false;

  /** Reads an answer of /assemble. @param {Record<string, any>} answer */
  return function watch(answer) {
    if (typeof answer.reason !== "string") return;
    const degraded = Array.isArray(answer.recall?.degraded) ? answer.recall.degraded.map(String) : [];
    const trouble = [answer.reason, ...degraded].find((code) => BACKEND_TROUBLE.test(code));
    if (trouble) {
      const code = trouble.slice(trouble.lastIndexOf(":") + 1);
      if (!isSaid) logger().warn(`${PLUGIN_ID}: ${baseUrl} answers, but its backend does not (${code}); turns are kept there`);
      isSaid = true;
    } else if (isSaid && PROVES_BACKEND.has(answer.reason) && (answer.recall || answer.reason !== "ok") && !degraded.length) {
      logger().info(`${PLUGIN_ID}: the backend behind ${baseUrl} is back`);
      isSaid = false;
    }
  };
}

/** Reason codes that only an answer of the backend leads to. */
const PROVES_BACKEND = new Set(["ok", "no_recall_hits", "no_session_data", "session_not_found"]);

/**
 * @typedef {object} Circuit
 * @property {boolean} isOpen true while the sidecar is not to be asked
 * @property {(why: string) => void} failed a request found the sidecar down
 * @property {() => void} succeeded a request was answered
 * @property {() => void} tryAgain a probe was answered: requests may be made, which will show whether it is well
 * @property {() => number} nextPauseMs how long to wait before the next probe; longer each time, up to the bound
 */

/**
 * @param {{baseUrl: string, minMs: number, maxMs: number, logger: () => Logger, now?: () => number}} options
 * @returns {Circuit}
 */
export function createCircuit({ baseUrl, minMs, maxMs, logger, now = Date.now }) {
  let isOpen = false;
  let isSaid = false;
  let pauseMs = minMs;
  let reopenedAt = -Infinity;

  return {
    get isOpen() {
      return isOpen;
    },
    failed(why) {
      if (!isOpen && now() - reopenedAt > RELAPSE_MS) pauseMs = minMs;
      isOpen = true;
      if (!isSaid) logger().warn(`${PLUGIN_ID}: ${baseUrl} is out of use (${why}); replies go on without it, turns are kept`);
      isSaid = true;
    },
    succeeded() {
      isOpen = false;
      if (isSaid) logger().info(`${PLUGIN_ID}: ${baseUrl} is back`);
      isSaid = false;
    },
    tryAgain() {
      isOpen = false;
      reopenedAt = now();
    },
    nextPauseMs() {
      const pause = Math.min(pauseMs, maxMs);
      pauseMs = Math.min(pauseMs * 2, maxMs);
      return pause;
    },
  };
}
