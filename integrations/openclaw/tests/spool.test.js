import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createSpool, sessionOf, SpoolFull } from "../spool.js";
import { fillDisk, freshDir, lettersIn } from "./host.js";

/** @import { Letter } from "../types.d.ts" */

const BOUNDS = { maxBytes: 1_000_000, maxFiles: 100 };

/** @param {string} sessionId @param {number} n @param {Letter["path"]} [path] @returns {Letter} */
const letter = (sessionId, n, path = "/after-turn") => ({ path, body: { sessionId, n, text: "line\nbreak 中文" } });

test("letters come back whole, oldest first, and survive the process", async (t) => {
  const dir = join(freshDir(t), "deep", "spool");
  const spool = createSpool(dir, BOUNDS);
  for (let n = 0; n < 20; n++) assert.equal(await spool.add(letter("a", n)), "disk");
  const again = createSpool(dir, BOUNDS);
  const read = await Promise.all((await again.list()).map((entry) => again.read(entry)));
  assert.deepEqual(read, Array.from({ length: 20 }, (_, n) => letter("a", n)));
});

test("a letter that is added after a restart sorts behind the older ones, whatever the clock says", async (t) => {
  const dir = freshDir(t);
  await createSpool(dir, BOUNDS).add(letter("a", 0));
  t.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
  await createSpool(dir, BOUNDS).add(letter("a", 1));
  t.mock.timers.reset();
  const spool = createSpool(dir, BOUNDS);
  const read = await Promise.all((await spool.list()).map((entry) => spool.read(entry)));
  assert.deepEqual(read.map((item) => item?.body.n), [0, 1]);
});

test("nobody else can read it", async (t) => {
  const dir = join(freshDir(t), "spool");
  await createSpool(dir, BOUNDS).add(letter("a", 1));
  assert.equal(statSync(dir).mode & 0o777, 0o700);
  assert.equal(statSync(join(dir, lettersIn(dir)[0] ?? "")).mode & 0o777, 0o600);
});

test("pending is per session and per kind", async (t) => {
  const spool = createSpool(freshDir(t), BOUNDS);
  await spool.add(letter("a", 1));
  await spool.add(letter("b", 1, "/sessions/reset"));
  const [a, b, c] = ["a", "b", "c"].map((id) => sessionOf(letter(id, 0)));
  assert.ok(a && b && c);
  assert.deepEqual(
    [await spool.isPending(a), await spool.isPending(b), await spool.isPending(c)],
    [true, true, false],
  );
  assert.deepEqual([await spool.isPending(a, "reset"), await spool.isPending(b, "reset")], [false, true]);
});

test("it is bounded in letters and in bytes", async (t) => {
  const few = createSpool(freshDir(t), { ...BOUNDS, maxFiles: 2 });
  await few.add(letter("a", 1));
  await few.add(letter("a", 2));
  await assert.rejects(few.add(letter("a", 3)), SpoolFull);
  const small = createSpool(freshDir(t), { ...BOUNDS, maxBytes: 200 });
  await small.add(letter("a", 1));
  await assert.rejects(small.add({ path: "/after-turn", body: { text: "x".repeat(200) } }), SpoolFull);
});

test("what is delivered is gone; what is dead is aside; what is no JSON does not block", async (t) => {
  const dir = freshDir(t);
  const spool = createSpool(dir, BOUNDS);
  for (let n = 0; n < 3; n++) await spool.add(letter("a", n));
  const [first, second, third] = await spool.list();
  assert.ok(first && second && third);
  await spool.remove(first);
  await spool.bury(second);
  writeFileSync(join(dir, third.name), "{ broken");
  assert.equal(await spool.read(third), null);
  assert.equal(await spool.read(first), null);
  assert.deepEqual(await spool.list(), []);
  assert.deepEqual(readdirSync(join(dir, "dead")).sort(), [second.name, third.name].sort());
});

test("what is JSON but no letter is put aside, too", async (t) => {
  const dir = freshDir(t);
  const spool = createSpool(dir, BOUNDS);
  for (const text of ["null", "7", "{}", '{"path":"/compact","body":{}}', '{"path":"/after-turn","body":[]}']) {
    await spool.add(letter("a", 1));
    const [entry] = await spool.list();
    assert.ok(entry);
    writeFileSync(join(dir, entry.name), text);
    assert.equal(await spool.read(entry), null);
    assert.deepEqual(await spool.list(), []);
  }
});

test("a letter can be put aside at once, and the dead are bounded", async (t) => {
  const dir = freshDir(t);
  const spool = createSpool(dir, BOUNDS);
  for (let n = 0; n < 205; n++) await spool.setAside(letter("a", n));
  const kept = readdirSync(join(dir, "dead")).sort();
  assert.equal(kept.length, 200);
  assert.equal(JSON.parse(readFileSync(join(dir, "dead", kept.at(-1) ?? ""), "utf8")).body.n, 204);
});

test("one holder of the lease at a time; that of a dead process is taken over", async (t) => {
  const dir = freshDir(t);
  const [one, two] = [createSpool(dir, BOUNDS), createSpool(dir, BOUNDS)];
  assert.equal(await one.lease(), true);
  assert.equal(await one.lease(), true, "it can be prolonged");
  assert.equal(await two.lease(), false);
  await two.release();
  assert.equal(await two.lease(), false, "nobody gives back another's");
  await one.release();
  assert.equal(await two.lease(), true);

  const path = join(dir, "drain.lease");
  const dead = { owner: "x", pid: 2 ** 22 + 1, host: hostname(), until: Date.now() + 60_000 };
  writeFileSync(path, JSON.stringify(dead));
  assert.equal(await one.lease(), true, "its process is dead");
  writeFileSync(path, JSON.stringify({ ...dead, host: "elsewhere" }));
  assert.equal(await two.lease(), false, "another machine's process can not be looked at");
  writeFileSync(path, JSON.stringify({ ...dead, host: "elsewhere", until: Date.now() - 1 }));
  assert.equal(await two.lease(), true, "it ran out");
  writeFileSync(path, JSON.stringify({ ...dead, host: "elsewhere", until: Date.now() + 86_400_000 }));
  assert.equal(await one.lease(), true, "the clock was set back since");
  writeFileSync(path, JSON.stringify({ ...dead, host: "elsewhere", until: "later" }));
  assert.equal(await two.lease(), true, "it names no time");
  writeFileSync(path, "{ broken");
  assert.equal(await one.lease(), true, "it was never finished");
});

test("of many that want the lease one gets it", async (t) => {
  const dir = freshDir(t);
  const got = await Promise.all(Array.from({ length: 20 }, () => createSpool(dir, BOUNDS).lease()));
  assert.equal(got.filter(Boolean).length, 1);
});

test("half-written files of a crash are no letters and go away in time", async (t) => {
  const dir = freshDir(t);
  const spool = createSpool(dir, BOUNDS);
  await spool.add(letter("a", 1));
  const temp = join(dir, `.${lettersIn(dir)[0]}`);
  writeFileSync(temp, "{ half");
  await spool.sweep();
  assert.equal((await spool.list()).length, 1);
  assert.ok(readdirSync(dir).length === 2, "a fresh one may still be written");
  utimesSync(temp, 1, 1);
  await spool.sweep();
  assert.deepEqual(readdirSync(dir), lettersIn(dir));
});

test("a disk that takes nothing: the letter is kept in memory and still delivered in order", async (t) => {
  const parent = freshDir(t);
  const file = join(parent, "not-a-directory");
  writeFileSync(file, "");
  chmodSync(file, 0o400);
  const spool = createSpool(join(file, "spool"), BOUNDS);
  assert.equal(await spool.add(letter("a", 1)), "memory");
  assert.equal(await spool.add(letter("a", 2)), "memory");
  assert.equal(await spool.lease(), true);
  const entries = await spool.list();
  assert.deepEqual((await Promise.all(entries.map((entry) => spool.read(entry)))).map((item) => item?.body.n), [1, 2]);
  for (const entry of entries) await spool.remove(entry);
  assert.deepEqual(await spool.list(), []);
});

/** What a process that starts now finds. @param {string} dir */
async function afterRestart(dir) {
  const spool = createSpool(dir, BOUNDS);
  return Promise.all((await spool.list()).map(async (entry) => (await spool.read(entry))?.body.n));
}

test("what a full disk did not take is written, in order, before the next letter", async (t) => {
  const dir = freshDir(t);
  const spool = createSpool(dir, BOUNDS);
  const makeRoom = await fillDisk(t);
  for (const n of [1, 2]) assert.equal(await spool.add(letter("a", n)), "memory");
  assert.deepEqual(readdirSync(dir), [], "a failed write leaves nothing");
  const names = (await spool.list()).map((entry) => entry.name);
  makeRoom();
  assert.equal(await spool.add(letter("a", 3)), "disk");
  assert.deepEqual(lettersIn(dir).slice(0, 2), names, "under the names that they had");
  assert.equal((await spool.list()).length, 3);
  assert.deepEqual(await afterRestart(dir), [1, 2, 3]);
});

test("what a full disk did not take is written without a further letter, too", async (t) => {
  const dir = freshDir(t);
  const spool = createSpool(dir, BOUNDS);
  const makeRoom = await fillDisk(t);
  for (let n = 0; n < 30; n++) await spool.add(letter("a", n));
  await spool.flush();
  assert.deepEqual(await afterRestart(dir), []);
  makeRoom();
  await Promise.all([spool.flush(), spool.flush(), spool.list()]);
  assert.deepEqual(await afterRestart(dir), Array.from({ length: 30 }, (_, n) => n));
  assert.equal((await spool.list()).length, 30);
});

test("a letter that is too long for the disk does not keep shorter ones from it", async (t) => {
  const dir = freshDir(t);
  const spool = createSpool(dir, BOUNDS);
  const long = { ...letter("a", 0), body: { ...letter("a", 0).body, more: "x".repeat(1000) } };
  const makeRoom = await fillDisk(t);
  for (const item of [long, letter("a", 1), letter("b", 2)]) await spool.add(item);
  makeRoom();
  await fillDisk(t, 500);
  await spool.flush();
  assert.deepEqual(await afterRestart(dir), [1, 2]);
});

test("a letter that is delivered while it is being written does not come back", async (t) => {
  const dir = freshDir(t);
  const spool = createSpool(dir, BOUNDS);
  const makeRoom = await fillDisk(t);
  for (const n of [1, 2]) await spool.add(letter("a", n));
  makeRoom();
  const [first] = await spool.list();
  assert.ok(first);
  await Promise.all([spool.flush(), spool.remove(first)]);
  assert.deepEqual(await afterRestart(dir), [2]);
});

test("a refused letter that was only in memory is put aside, as soon as the disk takes it", async (t) => {
  const dir = freshDir(t);
  const spool = createSpool(dir, BOUNDS);
  const makeRoom = await fillDisk(t);
  for (const n of [1, 2]) await spool.add(letter("a", n));
  const [first, second] = await spool.list();
  assert.ok(first && second);
  await spool.bury(first);
  await spool.setAside(letter("a", 3));
  assert.deepEqual((await spool.list()).map((entry) => entry.name), [second.name]);
  makeRoom();
  await spool.bury(second);
  const dead = lettersIn(join(dir, "dead")).map((name) => JSON.parse(readFileSync(join(dir, "dead", name), "utf8")).body.n);
  assert.deepEqual(dead.sort(), [1, 2, 3]);
  assert.deepEqual(await afterRestart(dir), []);
});

test("refused letters that the disk does not take are bounded as those on it", async (t) => {
  const dir = freshDir(t);
  const spool = createSpool(dir, BOUNDS);
  const makeRoom = await fillDisk(t);
  for (let n = 0; n < 205; n++) await spool.setAside(letter("a", n));
  makeRoom();
  await spool.flush();
  const dead = lettersIn(join(dir, "dead"));
  assert.equal(dead.length, 200);
  assert.equal(JSON.parse(readFileSync(join(dir, "dead", dead[0] ?? ""), "utf8")).body.n, 5);
});
