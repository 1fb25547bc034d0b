// Files that survive a crash of the process and of the machine once they are said to be there. Private to the user.
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Write, fsync, rename, fsync the directory. A write that fails leaves nothing behind, so that it can be tried again.
 *
 * @param {string} dir made if missing
 * @param {string} name
 * @param {string} text
 */
export async function writeDurably(dir, name, text) {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const temp = join(dir, `.${name}`);
  const file = await open(temp, "wx", 0o600);
  try {
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temp, join(dir, name));
  } catch (error) {
    await rm(temp, { force: true }).catch(() => {});
    throw error;
  }
  await syncDir(dir);
}

/**
 * Makes an empty file, for which most file systems have room even when they are full.
 *
 * @param {string} dir made if missing
 * @param {string} name
 */
export async function touchDurably(dir, name) {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const file = await open(join(dir, name), "a", 0o600);
  await file.close();
  await syncDir(dir);
}

/** @param {string} dir */
async function syncDir(dir) {
  const folder = await open(dir, "r").catch(() => null); // Windows can not open a directory
  await folder?.sync().catch(() => {});
  await folder?.close();
}
