// A foreground request to the sidecar: only while it is well, and only within what is left of the turn's time.
import { PLUGIN_ID } from "./config.js";

/**
 * @import { Outcome } from "./types.d.ts"
 * @import { Runtime, SessionState } from "./state.js"
 */

/** Less time than this is not worth a request. */
const MIN_MS = 20;
/** Of each time-out, what the answer needs to get here: the sidecar is told to stop earlier. */
const MARGIN_MS = 50;

/** What is left of the turn's budget, at most `mostMs`; 0 when it is not worth a request. @param {Runtime} runtime @param {SessionState} session @param {number} mostMs */
export function timeLeft(runtime, session, mostMs) {
  const left = Math.min(mostMs, runtime.config.turnBudgetMs - session.spentMs);
  return left < MIN_MS ? 0 : left;
}

/** Runs `work` and takes the time it needed off the turn's budget. @template T @param {SessionState} session @param {() => Promise<T>} work @returns {Promise<T>} */
export async function spend(session, work) {
  const started = performance.now();
  try {
    return await work();
  } finally {
    session.spentMs += performance.now() - started;
  }
}

/**
 * Asks the sidecar within the turn's budget; `null` when there is no usable answer, for whatever reason.
 *
 * @param {Runtime} runtime
 * @param {SessionState} session
 * @param {string} path
 * @param {Record<string, unknown>} body a deadline is added to it
 * @param {number} mostMs
 * @returns {Promise<Record<string, any> | null>}
 */
export async function ask(runtime, session, path, body, mostMs) {
  const timeoutMs = timeLeft(runtime, session, mostMs);
  if (!timeoutMs || runtime.circuit.isOpen) return null;
  const deadlineMs = Math.max(MIN_MS, Math.floor(timeoutMs - MARGIN_MS));
  const outcome = await spend(session, () => runtime.client.post(path, { ...body, deadlineMs }, { timeoutMs }));
  if (outcome.kind === "ok") runtime.watchBackend(outcome.body);
  return settled(runtime, path, outcome);
}

/**
 * The body of a good answer; anything else is remembered by the circuit and by the log.
 *
 * @param {Runtime} runtime
 * @param {string} path
 * @param {Outcome} outcome
 */
export function settled(runtime, path, outcome) {
  if (outcome.kind === "down") {
    runtime.circuit.failed(outcome.why);
    runtime.courier.start(); // its loop also watches for the recovery
  }
  if (outcome.kind === "ok") runtime.circuit.succeeded();
  if (outcome.kind === "rejected") runtime.warnOnce(`${PLUGIN_ID}: ${path} was refused (${outcome.why})`);
  return outcome.kind === "ok" ? outcome.body : null;
}
