// The sessions of which the sidecar may never get all turns from the spool, because that was full, or because the disk was
// and the process may end before there is room. The host's history still holds those turns. Each session is an empty file
// named after it, so that a restart does not forget them.
import { mkdir, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { touchDurably } from "./durable.js";

const SESSION = /^[0-9a-f]{16}$/;
const MAX_SESSIONS = 1_000;

/** @typedef {ReturnType<typeof createIncomplete>} Incomplete */

/**
 * @param {string} dir made if missing, 0700, when it is first asked: a full disk may have no room for a directory
 * @param {number} [most] sessions; the oldest are forgotten
 */
export function createIncomplete(dir, most = MAX_SESSIONS) {
  /** @type {Promise<Map<string, boolean>> | undefined} */
  let loaded;

  /** Those of earlier processes and of this one, and whether they lack turns for certain. @returns {Promise<Map<string, boolean>>} */
  function sessions() {
    return (loaded ??= load());
  }

  async function load() {
    await mkdir(dir, { recursive: true, mode: 0o700 }).catch(() => {});
    const names = await readdir(dir).catch(() => []);
    return new Map(names.filter((name) => SESSION.test(name)).map((name) => [name, true]));
  }

  /** @param {string} session as the spool names it */
  async function has(session) {
    return (await sessions()).has(session);
  }

  /** Whether turns are lost but for the history; false while this process still has them all. @param {string} session */
  async function isLost(session) {
    return (await sessions()).get(session) ?? false;
  }

  /**
   * Survives a restart where the disk takes an empty file; is known in this process in any case.
   *
   * @param {string} session
   * @param {boolean} lost false for turns that are lost only if this process ends
   */
  async function add(session, lost) {
    const all = await sessions();
    const isNew = !all.has(session);
    all.set(session, lost || all.get(session) === true);
    if (!isNew) return;
    await touchDurably(dir, session).catch(() => {});
    for (const oldest of all.keys()) {
      if (all.size <= most) break;
      await remove(oldest);
    }
  }

  /** @param {string} session */
  async function remove(session) {
    (await sessions()).delete(session);
    await unlink(join(dir, session)).catch(() => {});
  }

  return { has, isLost, add, remove };
}
