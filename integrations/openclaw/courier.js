// Tells the sidecar what it must not miss - turns, resets, ends - once and in each session's order. Straight away when
// it is well and nothing older waits; by way of the spool otherwise, which a loop in the background empties.
import { PLUGIN_ID } from "./config.js";
import { sessionOf, SpoolFull } from "./spool.js";

/**
 * @import { Letter, Logger, Outcome } from "./types.d.ts"
 * @import { Circuit } from "./circuit.js"
 * @import { Client } from "./client.js"
 * @import { Incomplete } from "./incomplete.js"
 * @import { Entry, Spool } from "./spool.js"
 */

const DELIVERY_TIMEOUT_MS = 15_000;
const PROBE_TIMEOUT_MS = 2_000;
const STATUSES = new Set(["committed", "duplicate", "skipped"]);

/** @type {Outcome} */
const GONE = { kind: "rejected", why: "not in the spool any more" };

/** @typedef {"committed" | "duplicate"} Receipt */

/**
 * @param {{client: Client, circuit: Circuit, spool: Spool, incomplete: Incomplete, logger: () => Logger}} parts
 */
export function createCourier({ client, circuit, spool, incomplete, logger }) {
  /** The last thing each session is busy with. @type {Map<string, Promise<unknown>>} */
  const lanes = new Map();
  /** @type {Promise<void> | null} */
  let loop = null;
  let wake = () => {};
  let isAskedAgain = false;
  /** What kept the spool from taking the last letter. */
  let trouble = "";

  /**
   * Delivers or keeps a letter; never throws, and takes no longer than the time-out and a few writes to disk.
   *
   * @param {Letter} letter
   * @param {number} timeoutMs 0 for "do not even try to send it now"
   * @returns {Promise<Receipt>}
   */
  async function submit(letter, timeoutMs) {
    const session = sessionOf(letter);
    return inLane(session, () => sendOrKeep(letter, session, timeoutMs));
  }

  /**
   * Delivers a tool's letter now, or keeps it where the sidecar is not to be had: the model must be told which.
   *
   * @param {Letter} letter
   * @param {number} timeoutMs
   * @returns {Promise<Outcome | {kind: "kept", where: "disk" | "memory"}>} `down` or `busy` when it could not be kept
   */
  async function submitTool(letter, timeoutMs) {
    const session = sessionOf(letter);
    return inLane(session, async () => {
      // Two of them about the same thing must not pass each other.
      const waits = circuit.isOpen || (await spool.isPending(session, "tool"));
      /** @type {Outcome} */
      const outcome = waits ? { kind: "down", why: "the sidecar is out of use" } : await send(letter, timeoutMs);
      if (outcome.kind !== "down" && outcome.kind !== "busy") return outcome;
      const where = await spool.add(letter).catch(() => null);
      start();
      return where ? { kind: "kept", where } : outcome;
    });
  }

  /** Runs `work` behind what the session is busy with. @template T @param {string} session @param {() => Promise<T>} work */
  async function inLane(session, work) {
    const turn = (lanes.get(session) ?? Promise.resolve()).then(work);
    lanes.set(session, turn);
    try {
      return await turn;
    } finally {
      if (lanes.get(session) === turn) lanes.delete(session);
    }
  }

  /**
   * Sends a session's whole history where turns of it could not be kept: a turn without key and position, of which the
   * sidecar takes what it does not have. Never throws; a history that does not get through is sent another time.
   *
   * @param {Letter} history
   * @param {number} timeoutMs
   */
  async function complete(history, timeoutMs) {
    const session = sessionOf(history);
    await inLane(session, async () => {
      if (circuit.isOpen || !(await incomplete.has(session)) || (await spool.isPending(session))) return;
      if (!(await incomplete.isLost(session))) return incomplete.remove(session); // all was delivered from memory
      const outcome = await send(history, timeoutMs);
      if (outcome.kind === "ok") logger().info(`${PLUGIN_ID}: turns that the spool may have lost were taken from the history`);
      if (outcome.kind === "rejected") logger().error(`${PLUGIN_ID}: a session's history was refused (${outcome.why})`);
      if (outcome.kind === "ok" || outcome.kind === "rejected") await incomplete.remove(session);
      else start(); // its loop also watches for the recovery
    });
  }

  /** @param {Letter} letter @param {string} session @param {number} timeoutMs @returns {Promise<Receipt>} */
  async function sendOrKeep(letter, session, timeoutMs) {
    if (timeoutMs > 0 && !circuit.isOpen && !(await spool.isPending(session))) {
      const outcome = await send(letter, timeoutMs);
      if (outcome.kind === "ok") return outcome.body.status === "duplicate" ? "duplicate" : "committed";
      if (outcome.kind === "rejected") {
        sayDead(letter, outcome.why);
        await spool.setAside(letter);
        return "committed";
      }
    }
    await keep(letter);
    start();
    return "committed";
  }

  /** @param {Letter} letter @param {number} timeoutMs @returns {Promise<Outcome>} */
  async function send(letter, timeoutMs) {
    const outcome = understood(letter, await client.post(letter.path, letter.body, { timeoutMs }));
    if (outcome.kind === "down") circuit.failed(outcome.why);
    if (outcome.kind === "ok") circuit.succeeded();
    return outcome;
  }

  /** @param {Letter} letter */
  async function keep(letter) {
    let isLost = false;
    try {
      const where = await spool.add(letter);
      if (where === "disk") {
        trouble = "";
        return;
      }
      sayOnce(where, "the spool can not be written; turns are kept in memory until it can, and else taken from the history");
    } catch (error) {
      const why = /** @type {Error} */ (error).message;
      if (!(error instanceof SpoolFull)) return sayOnce(why, `${letter.path} can not be kept: ${why}`);
      sayOnce("full", `the spool is full (${why}); what it does not take will be taken from the history`);
      isLost = true;
    }
    if (letter.path === "/after-turn") await incomplete.add(sessionOf(letter), isLost); // of all else the history knows nothing
  }

  /** @param {string} what @param {string} message */
  function sayOnce(what, message) {
    if (trouble !== what) logger().error(`${PLUGIN_ID}: ${message}`);
    trouble = what;
  }

  /** @param {Letter} letter @param {string} why */
  function sayDead(letter, why) {
    logger().error(`${PLUGIN_ID}: ${letter.path} was refused for good and put aside (${why})`);
  }

  /** Makes the loop run, or look again: at once if it is waiting, before it ends if it is about to. */
  function start() {
    isAskedAgain = true;
    wake();
    loop ??= run()
      .catch((error) => logger().error(`${PLUGIN_ID}: delivery stopped: ${error}`))
      .finally(() => {
        loop = null;
        if (isAskedAgain) start();
      });
  }

  /** Until nothing waits and the sidecar is well. Its timers keep no process alive. */
  async function run() {
    isAskedAgain = false;
    await spool.sweep();
    for (;;) {
      isAskedAgain = false;
      await spool.flush();
      const well = !circuit.isOpen || (await probe());
      const next = well ? await drain() : { waiting: 1, pauseMs: circuit.nextPauseMs() };
      if (next.waiting === 0 && !circuit.isOpen && !isAskedAgain) return;
      await pause(isAskedAgain ? 0 : next.pauseMs);
    }
  }

  async function probe() {
    const healthy = await client.isHealthy(PROBE_TIMEOUT_MS);
    if (healthy) circuit.tryAgain();
    return healthy;
  }

  /** One pass over the spool. @returns {Promise<{waiting: number, pauseMs: number}>} */
  async function drain() {
    const entries = await spool.list();
    if (entries.length === 0) return { waiting: 0, pauseMs: 0 };
    if (!(await spool.lease())) return { waiting: entries.length, pauseMs: circuit.nextPauseMs() };
    try {
      return await deliverAll(entries);
    } finally {
      await spool.release();
    }
  }

  /**
   * In order; a session whose letter did not get through waits as a whole, the others go on.
   *
   * @param {Entry[]} entries
   */
  async function deliverAll(entries) {
    const blocked = new Set();
    let delivered = 0;
    let pauseMs = 0;
    for (const entry of entries) {
      if (blocked.has(entry.session)) continue;
      if (circuit.isOpen || !(await spool.lease())) break;
      const outcome = await deliver(entry);
      if (outcome.kind === "ok") {
        delivered += 1;
      } else if (outcome.kind !== "rejected") {
        blocked.add(entry.session);
        pauseMs = Math.max(pauseMs, outcome.kind === "busy" ? outcome.retryAfterMs : circuit.nextPauseMs());
      }
    }
    if (delivered) logger().info(`${PLUGIN_ID}: ${delivered} kept turn(s) delivered`);
    return { waiting: (await spool.list()).length, pauseMs };
  }

  /** @param {Entry} entry @returns {Promise<Outcome>} */
  async function deliver(entry) {
    const letter = await spool.read(entry).catch(() => undefined);
    if (letter === undefined) return { kind: "busy", why: "the spool can not be read", retryAfterMs: 1000 };
    const outcome = letter ? refusedLate(letter, await send(letter, DELIVERY_TIMEOUT_MS)) : GONE;
    if (outcome.kind === "ok") await spool.remove(entry);
    if (letter && outcome.kind === "rejected") {
      sayDead(letter, outcome.why);
      await spool.bury(entry);
    }
    return outcome;
  }

  /** @param {number} ms */
  async function pause(ms) {
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      wake = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
    });
    wake = () => {};
  }

  /** Waits until the loop rests, at most so long. @param {number} ms */
  async function settle(ms) {
    if (!loop) return;
    const running = loop;
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      running.finally(() => {
        clearTimeout(timer);
        resolve(undefined);
      });
    });
  }

  return { submit, submitTool, complete, start, settle };
}

/**
 * An answer that does not say what became of the turn is no answer: something else listens at that address.
 *
 * @param {Letter} letter
 * @param {Outcome} outcome
 * @returns {Outcome}
 */
function understood(letter, outcome) {
  const isOld = letter.path.startsWith("/tools/") && outcome.kind === "down" && outcome.why.startsWith("HTTP 404");
  if (isOld) return { kind: "rejected", why: "this sidecar has no such tool" };
  if (outcome.kind !== "ok") return outcome;
  const known = letter.path === "/after-turn" ? STATUSES.has(outcome.body.status) : typeof outcome.body.ok === "boolean";
  return known ? outcome : { kind: "down", why: "the answer is not the sidecar's" };
}

/**
 * A kept tool call that the sidecar answers with a mistake: the model that could mend it is gone. What is not there any
 * more is forgotten already.
 *
 * @param {Letter} letter
 * @param {Outcome} outcome
 * @returns {Outcome}
 */
function refusedLate(letter, outcome) {
  if (outcome.kind !== "ok" || !letter.path.startsWith("/tools/") || outcome.body.ok) return outcome;
  return outcome.body.reason === "not_found" ? outcome : { kind: "rejected", why: String(outcome.body.reason) };
}

/** @typedef {ReturnType<typeof createCourier>} Courier */
