// What is sent for a path of this machine: a file, or a folder as a zip, without what git ignores and without following
// links. The path itself goes nowhere.
import { constants } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { ignoredBy, patternsIn } from "./gitignore.js";
import { zip } from "./zip.js";

/** @typedef {{folder: string, patterns: import("./gitignore.js").Pattern[]}} Rules */

/** Of what is sent; the sidecar takes 32 MiB by default. */
const MAX_BYTES = 31 * 1024 * 1024;
/** Of the files before they are packed. */
const MAX_UNPACKED = 128 * 1024 * 1024;
const MAX_FILES = 2_000;
const MAX_DEPTH = 20;
const MAX_IGNORE_BYTES = 1_000_000;
/** Of a folder these are never sent: what tools made, and what belongs to version control. */
const SKIPPED = new Set([".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "__MACOSX"]);
/** The sidecar reads none of these, and they are large. */
const UNREADABLE = /\.(?:png|jpe?g|gif|webp|ico|bmp|tiff?|mp[34]|m4[av]|mov|avi|mkv|wav|ogg|flac|zip|gz|xz|bz2|7z|rar|tar|jar|exe|dll|so|dylib|o|a|class|pyc|wasm|woff2?|ttf|otf|eot|bin|iso|dmg|sqlite3?|db)$/i;
const NO_LINKS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Reads what a path names. Rejects with an Error whose message is for people.
 *
 * @param {string} path
 * @returns {Promise<{name: string, data: Buffer, type: string}>}
 */
export async function readForImport(path) {
  const real = await realpath(path);
  const found = await lstat(real);
  if (found.isFile()) {
    const data = await bytesOf(real, MAX_BYTES);
    if (!data) throw new Error("it can not be read");
    return { name: basename(path), data, type: "application/octet-stream" };
  }
  if (!found.isDirectory()) throw new Error("it is neither a file nor a folder");
  const { data, count } = await zip(contents(real), MAX_BYTES);
  if (!count) throw new Error("it holds nothing to be imported, or git ignores all of it");
  return { name: basename(real) || "folder", data, type: "application/zip" };
}

/** @param {string} folder @returns {AsyncGenerator<{name: string, data: Buffer}>} */
async function* contents(folder) {
  let count = 0;
  let size = 0;
  const seen = new Set();
  for await (const path of filesBelow(folder)) {
    const name = relative(folder, path).split(sep).join("/");
    if (/[\\\p{Cc}]/u.test(name) || name.length > 512 || seen.has(name.toLowerCase())) continue; // no archive may hold these
    const data = await bytesOf(path, MAX_BYTES);
    if (!data) continue;
    seen.add(name.toLowerCase());
    size += data.length;
    if (++count > MAX_FILES) throw new Error(`it has more than ${MAX_FILES} files: import its folders one by one`);
    if (size > MAX_UNPACKED) throw new Error(`it has more than ${MAX_UNPACKED} bytes: import its folders one by one`);
    yield { name, data };
  }
}

/** The regular files of a folder, by their names. @param {string} folder @returns {AsyncGenerator<string>} */
async function* filesBelow(folder) {
  /** @type {{here: string, around: Rules[]}[]} */
  const waiting = [{ here: folder, around: await rulesAround(folder) }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { here } = next;
    const rules = [...next.around, ...(await rulesIn(here))];
    const entries = (await readdir(here, { withFileTypes: true })).sort((one, other) => (one.name < other.name ? -1 : 1));
    const inner = [];
    for (const entry of entries) {
      const path = join(here, entry.name);
      if (entry.isDirectory()) {
        const isDeep = relative(folder, path).split(sep).length >= MAX_DEPTH;
        if (!SKIPPED.has(entry.name) && !isDeep && !isIgnored(path, true, rules)) inner.push({ here: path, around: rules });
      } else if (entry.isFile() && entry.name !== ".gitignore" && !UNREADABLE.test(entry.name) && !isIgnored(path, false, rules)) {
        yield path;
      }
    }
    waiting.push(...inner.reverse());
  }
}

/** The innermost .gitignore that says anything of a path decides. @param {string} path @param {boolean} isFolder @param {Rules[]} rules */
function isIgnored(path, isFolder, rules) {
  for (const { folder, patterns } of [...rules].reverse()) {
    const says = ignoredBy(patterns, relative(folder, path).split(sep), isFolder);
    if (says !== undefined) return says;
  }
  return false;
}

/** Rules of the folders above, up to the repository's; without those that ignore the very folder that is named. @param {string} folder */
async function rulesAround(folder) {
  if (await exists(join(folder, ".git"))) return [];
  const above = [];
  let here = folder;
  do {
    if (dirname(here) === here) return [];
    here = dirname(here);
    above.unshift(here);
  } while (!(await exists(join(here, ".git"))));
  const rules = (await Promise.all(above.map(rulesIn))).flat();
  return rules.filter((one) => !ignoredBy(one.patterns, relative(one.folder, folder).split(sep), true));
}

/** @param {string} folder @returns {Promise<Rules[]>} */
async function rulesIn(folder) {
  const data = await bytesOf(join(folder, ".gitignore"), MAX_IGNORE_BYTES).catch(() => null);
  return data?.length ? [{ folder, patterns: patternsIn(data.toString("utf8")) }] : [];
}

/** @param {string} path */
async function exists(path) {
  return lstat(path).then(() => true, () => false);
}

/**
 * A regular file's bytes, whatever was put in its place meanwhile; null where there is none that can be read.
 *
 * @param {string} path
 * @param {number} most
 */
async function bytesOf(path, most) {
  const file = await open(path, NO_LINKS).catch(() => null);
  if (!file) return null;
  try {
    const found = await file.stat();
    if (!found.isFile()) return null;
    if (found.size > most) throw new Error(`${basename(path)} has ${found.size} bytes; ${most} are the most`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
