// Whether the sidecar may be asked. After a failure nobody asks until a probe in the background finds it well again,
// so that an outage costs the host's turns one time-out, not one each. Says so once, and once when it is over.
import { PLUGIN_ID } from "./config.js";

/** @import { Logger } from "./types.d.ts" */

/** A failure this soon after the pause ended lengthens the next: the health check alone is not to be trusted then. */
const RELAPSE_MS = 60_000;

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
