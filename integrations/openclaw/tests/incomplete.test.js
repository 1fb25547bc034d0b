import assert from "node:assert/strict";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createIncomplete } from "../incomplete.js";
import { fillDisk, freshDir } from "./host.js";

/** @param {number} n */
const session = (n) => n.toString(16).padStart(16, "0");

test("a session stays incomplete over a restart, until it is complete", async (t) => {
  const dir = join(freshDir(t), "incomplete");
  const sessions = createIncomplete(dir);
  await Promise.all([sessions.add(session(1), true), sessions.add(session(2), true), sessions.add(session(1), true)]);
  await sessions.remove(session(2));
  assert.deepEqual([await sessions.has(session(1)), await sessions.has(session(2))], [true, false]);
  const again = createIncomplete(dir);
  assert.deepEqual([await again.has(session(1)), await again.has(session(2))], [true, false]);
  await again.remove(session(1));
  assert.equal(await createIncomplete(dir).has(session(1)), false);
  assert.equal(statSync(dir).mode & 0o777, 0o700);
});

test("what is only in memory is not lost before this process ends, unless more is", async (t) => {
  const dir = freshDir(t);
  const sessions = createIncomplete(dir);
  for (const n of [1, 2]) await sessions.add(session(n), false);
  assert.equal(await sessions.isLost(session(1)), false);
  await sessions.add(session(2), true);
  await sessions.add(session(2), false);
  assert.equal(await sessions.isLost(session(2)), true);
  assert.equal(await createIncomplete(dir).isLost(session(1)), true, "its memory is gone");
});

test("a full disk still takes the note", async (t) => {
  const dir = freshDir(t);
  await fillDisk(t);
  await createIncomplete(dir).add(session(1), true);
  assert.equal(await createIncomplete(dir).has(session(1)), true);
});

test("where nothing at all can be made it is known in this process", async (t) => {
  const dir = join(freshDir(t), "file");
  writeFileSync(dir, "");
  const sessions = createIncomplete(dir);
  await sessions.add(session(1), true);
  assert.equal(await sessions.has(session(1)), true);
  await sessions.remove(session(1));
  assert.equal(await sessions.has(session(1)), false);
});

test("it is bounded: the oldest go", async (t) => {
  const dir = freshDir(t);
  const sessions = createIncomplete(dir, 3);
  for (let n = 0; n < 5; n++) await sessions.add(session(n), true);
  assert.deepEqual(readdirSync(dir).sort(), [2, 3, 4].map(session));
  assert.deepEqual([await sessions.has(session(1)), await sessions.has(session(2))], [false, true]);
});

test("what is no session in its directory is not one", async (t) => {
  const dir = freshDir(t);
  writeFileSync(join(dir, "README"), "");
  assert.equal(await createIncomplete(dir).has("README"), false);
});
