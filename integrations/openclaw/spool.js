// The spool: what the sidecar must still be told, one fsynced file each, in a private directory. Bounded; several
// processes may share it. Its file names say all that is needed to order, count and bound it without opening a file:
//
//     <time>-<counter>-<process>.<session>.<kind>.<bytes>.json
//
// A name sorts by time; a session's letters are delivered in that order and no newer one goes first.
import { createHash, randomBytes } from "node:crypto";
import { link, mkdir, readdir, readFile, rename, rm, stat, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { writeDurably } from "./durable.js";
import { toJson } from "./messages.js";

/** @import { Letter } from "./types.d.ts" */

const NAME = /^(\d{15})-[0-9a-z]{6}-[0-9a-z]+\.([0-9a-f]{16})\.(turn|reset|end|tool)\.([0-9a-z]+)\.json$/;
/** @type {Record<Letter["path"], Entry["kind"]>} */
const KINDS = {
  "/after-turn": "turn",
  "/sessions/reset": "reset",
  "/sessions/end": "end",
  "/tools/memory_store": "tool",
  "/tools/memory_forget": "tool",
};
const LEASE = "drain.lease";
const LEASE_MS = 60_000;
const STALE_TEMP_MS = 600_000;
const MAX_DEAD = 200;
/** Letters from memory that a new one waits for: a reply is not to wait for thousands. */
const MAX_BEFORE_ADD = 8;

/**
 * @typedef {{name: string, session: string, kind: "turn" | "reset" | "end" | "tool", time: number, bytes: number}} Entry
 * @typedef {ReturnType<typeof createSpool>} Spool
 */

/** Says why the spool takes nothing more. */
export class SpoolFull extends Error {}

/**
 * The session a letter belongs to, as the spool names it.
 *
 * @param {Letter} letter
 */
export function sessionOf(letter) {
  const { sessionId, sessionKey } = letter.body;
  return createHash("sha256").update(String(sessionId || sessionKey || "")).digest("hex").slice(0, 16);
}

/**
 * @param {string} dir made if missing, 0700
 * @param {{maxBytes: number, maxFiles: number}} bounds
 */
export function createSpool(dir, { maxBytes, maxFiles }) {
  const dead = join(dir, "dead");
  const owner = `${process.pid}-${randomBytes(6).toString("hex")}`;
  /** Letters that the disk would not take: better than nothing until it does. @type {Map<string, Letter>} */
  const unwritten = new Map();
  /** The same of those that were refused. @type {Map<string, Letter>} */
  const unburied = new Map();
  let isFlushing = false;
  let isFlushDue = false;
  let counter = 0;

  /** All letters, oldest first. @returns {Promise<Entry[]>} */
  async function list() {
    const inMemory = [...unwritten.keys()]; // first: what is written meanwhile is then seen twice rather than never
    const names = new Set([...inMemory, ...(await letterNames(dir))]);
    return [...names].map(entryOf).filter((entry) => entry !== null).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Whether anything of this session waits, or anything of this kind. @param {string} session @param {Entry["kind"]} [kind] */
  async function isPending(session, kind) {
    return (await list()).some((entry) => entry.session === session && (!kind || entry.kind === kind));
  }

  /**
   * Keeps a letter; once this returns "disk" it survives a crash of the process and of the machine. Turns stay within the
   * bounds; all others are small, can not be had again, and so may go beyond them. "memory" lasts until the disk takes the
   * letter, which each `add` and each `flush` tries.
   *
   * @param {Letter} letter
   * @returns {Promise<"disk" | "memory">}
   * @throws {SpoolFull}
   */
  async function add(letter) {
    const text = toJson(letter);
    if (text === null) throw new Error("it can not be written as JSON");
    const bytes = Buffer.byteLength(text);
    const entries = await list();
    const used = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    const isFull = entries.length >= maxFiles || used + bytes > maxBytes;
    if (isFull && (KINDS[letter.path] === "turn" || entries.length >= 2 * maxFiles)) {
      throw new SpoolFull(`${entries.length} letters and ${used} bytes wait already`);
    }
    const time = Math.max(Date.now(), (entries.at(-1)?.time ?? 0) + 1);
    const name = nameOf(letter, time, counter++, bytes);
    await flush(MAX_BEFORE_ADD);
    try {
      await writeDurably(dir, name, text);
      return "disk";
    } catch {
      unwritten.set(name, letter);
      return "memory";
    }
  }

  /**
   * Writes the letters that the disk did not take, oldest first, under the names that they have. One that is still refused
   * is passed over with all that are as long, so that a disk with little room takes what it can and a full one is asked little.
   *
   * One at a time: while it runs, a further call only makes it look again.
   *
   * @param {number} [most] letters to try
   */
  async function flush(most = Infinity) {
    isFlushDue = true;
    if (isFlushing) return;
    isFlushing = true;
    try {
      while (isFlushDue) {
        isFlushDue = false;
        most -= await flushTo(dir, unwritten, most);
        most -= await flushTo(dead, unburied, most);
      }
    } finally {
      isFlushing = false;
    }
  }

  /** @param {string} folder @param {Map<string, Letter>} letters @param {number} most @returns {Promise<number>} tried */
  async function flushTo(folder, letters, most) {
    let tried = 0;
    let refusedBytes = Infinity;
    for (const [name, letter] of letters) {
      if (tried >= most) break;
      const bytes = entryOf(name)?.bytes ?? 0;
      if (bytes >= refusedBytes) continue;
      tried += 1;
      try {
        await writeDurably(folder, name, toJson(letter) ?? "");
        if (!letters.delete(name)) await unlink(join(folder, name)).catch(() => {}); // it was delivered meanwhile
      } catch {
        refusedBytes = bytes;
      }
    }
    return tried;
  }

  /**
   * The letter; null when another process has delivered it meanwhile, or when it is damaged and was put aside.
   *
   * @param {Entry} entry
   * @returns {Promise<Letter | null>}
   * @throws {Error} when the disk does not let us read it now
   */
  async function read(entry) {
    const kept = unwritten.get(entry.name);
    if (kept) return kept;
    try {
      const letter = JSON.parse(await readFile(join(dir, entry.name), "utf8"));
      if (isLetter(letter)) return letter;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return null;
      if (!(error instanceof SyntaxError)) throw error;
    }
    await bury(entry);
    return null;
  }

  /** Forgets a letter that was delivered. @param {Entry} entry */
  async function remove(entry) {
    unwritten.delete(entry.name);
    await unlink(join(dir, entry.name)).catch(() => {});
  }

  /** Puts a kept letter aside that will never be accepted. @param {Entry} entry */
  async function bury(entry) {
    const letter = unwritten.get(entry.name);
    if (letter) return layAside(entry.name, letter);
    await mkdir(dead, { recursive: true, mode: 0o700 }).catch(() => {});
    await rename(join(dir, entry.name), join(dead, entry.name)).catch(() => {});
    await thinDead();
  }

  /** The same for a letter that was not kept yet. @param {Letter} letter */
  async function setAside(letter) {
    const text = toJson(letter);
    if (text === null) return;
    await layAside(nameOf(letter, Date.now(), counter++, Buffer.byteLength(text)), letter);
  }

  /** @param {string} name @param {Letter} letter that is not on the disk */
  async function layAside(name, letter) {
    unburied.set(name, letter);
    unwritten.delete(name);
    for (const oldest of unburied.keys()) {
      if (unburied.size <= MAX_DEAD) break;
      unburied.delete(oldest);
    }
    await flush();
    await thinDead();
  }

  /** Keeps the newest of the dead letters. */
  async function thinDead() {
    const buried = (await letterNames(dead)).sort();
    for (const name of buried.slice(0, -MAX_DEAD)) await unlink(join(dead, name)).catch(() => {});
  }

  /**
   * Takes the right to deliver, or prolongs it. The lease appears by an atomic link; that of a dead process, or one that
   * ran out, is moved away first. Should two processes ever hold it, letters arrive twice: their keys make that harmless.
   */
  async function lease() {
    const path = join(dir, LEASE);
    const held = await readLease(path);
    if (held && held.owner !== owner) {
      if (isAlive(held)) return false;
      const away = join(dir, `.stale-${owner}`);
      await rename(path, away).catch(() => {});
      await rm(away, { force: true });
    }
    const draft = join(dir, `.lease-${owner}`);
    const text = JSON.stringify({ owner, pid: process.pid, host: hostname(), until: Date.now() + LEASE_MS });
    try {
      await writeFile(draft, text, { mode: 0o600 });
      if (held?.owner === owner) await rename(draft, path);
      else await link(draft, path);
      return true;
    } catch (error) {
      return /** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST"; // a directory that can not be written is not shared
    } finally {
      await rm(draft, { force: true }).catch(() => {});
    }
  }

  /** Gives the lease back, if it is ours. */
  async function release() {
    const path = join(dir, LEASE);
    if ((await readLease(path))?.owner === owner) await rm(path, { force: true }).catch(() => {});
  }

  /** Removes what a crash in the middle of a write left: the host was never told that it is safe. */
  async function sweep() {
    for (const name of await allNames(dir)) {
      if (!name.startsWith(".")) continue;
      const info = await stat(join(dir, name)).catch(() => null);
      if (info && Date.now() - info.mtimeMs > STALE_TEMP_MS) await rm(join(dir, name), { force: true });
    }
  }

  return { list, isPending, add, flush, read, remove, bury, setAside, lease, release, sweep };
}

/** @param {Letter} letter @param {number} time @param {number} count @param {number} bytes */
function nameOf(letter, time, count, bytes) {
  const order = [String(time).padStart(15, "0"), count.toString(36).padStart(6, "0"), process.pid.toString(36)].join("-");
  return [order, sessionOf(letter), KINDS[letter.path], bytes.toString(36), "json"].join(".");
}

/** @param {string} name @returns {Entry | null} */
function entryOf(name) {
  const [, time, session, kind, bytes] = NAME.exec(name) ?? [];
  if (!time || !session || !kind || !bytes) return null;
  return { name, session, kind: /** @type {Entry["kind"]} */ (kind), time: Number(time), bytes: parseInt(bytes, 36) };
}

/** @param {any} value @returns {value is Letter} */
function isLetter(value) {
  const { path, body } = value ?? {};
  return Object.hasOwn(KINDS, String(path)) && Boolean(body) && typeof body === "object" && !Array.isArray(body);
}

/** @param {string} dir @returns {Promise<string[]>} */
async function allNames(dir) {
  return readdir(dir).catch(() => []);
}

/** @param {string} dir */
async function letterNames(dir) {
  return (await allNames(dir)).filter((name) => NAME.test(name));
}

/** @param {string} path @returns {Promise<{owner: string, pid: number, host: string, until: number} | null>} */
async function readLease(path) {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    const unreadable = error instanceof SyntaxError;
    return unreadable ? { owner: "", pid: 0, host: "", until: 0 } : null;
  }
}

/** @param {{pid: number, host: string, until: number}} held */
function isAlive(held) {
  const now = Date.now();
  if (!(held.until >= now && held.until <= now + LEASE_MS)) return false; // ran out, or the clock was set back since
  if (held.host !== hostname()) return true;
  try {
    process.kill(held.pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
