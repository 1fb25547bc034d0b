import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { inflateRawSync } from "node:zlib";
import { readForImport } from "../folder.js";
import { ignoredBy, patternsIn } from "../gitignore.js";
import { zip } from "../zip.js";
import { freshDir, loadPlugin } from "./host.js";
import { startStandin } from "./standin.js";

/** @param {import("node:test").TestContext} t @param {Record<string, unknown>} [more] */
async function world(t, more = {}) {
  const standin = await startStandin();
  t.after(() => standin.stop());
  const dir = freshDir(t);
  const config = { baseUrl: standin.url, spoolDir: join(dir, "spool"), toolTimeoutMs: 10_000, ...more };
  return { standin, dir, plugin: await loadPlugin(config, { agent: { resolveAgentWorkspaceDir: () => dir } }) };
}

/** Writes files below a folder. @param {string} folder @param {Record<string, string>} files */
function folderOf(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** The files of an archive. @param {Buffer} data @returns {Record<string, string>} */
function unzipped(data) {
  /** @type {Record<string, string>} */
  const files = {};
  for (let at = 0; data.readUInt32LE(at) === 0x04034b50; ) {
    const [packed, name] = [data.readUInt32LE(at + 18), data.readUInt16LE(at + 26)];
    const start = at + 30 + name;
    files[data.toString("utf8", at + 30, start)] = inflateRawSync(data.subarray(start, start + packed)).toString();
    at = start + packed;
  }
  return files;
}

test("a folder goes as a zip, without what git ignores and without links, and its path goes nowhere", async (t) => {
  const { plugin, standin, dir } = await world(t);
  const folder = folderOf(join(dir, "hand book"), {
    ".gitignore": "*.draft.md\n!kept.draft.md\nbuild/\n/top.md\n",
    "guide.md": "# Guide\nRun `atlas rewind`.",
    "a.draft.md": "-",
    "kept.draft.md": "kept",
    "top.md": "-",
    "build/out.md": "-",
    "sub/top.md": "top",
    "sub/.gitignore": "secret.*\n!b.draft.md\n",
    "sub/secret.md": "-",
    "sub/b.draft.md": "b",
    "node_modules/x/readme.md": "-",
    "logo.png": "-",
  });
  folderOf(join(dir, "outside"), { "passwords.md": "hunter2" });
  symlinkSync(join(dir, "outside", "passwords.md"), join(folder, "file.md"));
  symlinkSync(join(dir, "outside"), join(folder, "inner"));
  assert.equal(await plugin.command("ov-import", `"${folder}" --to handbook --wait`), "Imported as viking://~/resources/guide");
  const [{ headers, raw } = assert.fail("no upload")] = standin.to("/resources");
  assert.match(String(headers["content-type"]), /^multipart\/form-data; boundary=/);
  const form = await new Response(new Uint8Array(raw), { headers: { "content-type": String(headers["content-type"]) } }).formData();
  assert.deepEqual([form.get("to"), form.get("wait")], ["handbook", "true"]);
  const file = /** @type {File} */ (form.get("file"));
  assert.deepEqual([file.name, file.type], ["hand book", "application/zip"]);
  const files = unzipped(Buffer.from(await file.arrayBuffer()));
  assert.deepEqual(Object.keys(files), ["guide.md", "kept.draft.md", "sub/b.draft.md", "sub/top.md"]);
  assert.equal(files["guide.md"], "# Guide\nRun `atlas rewind`.");
  assert.ok(!raw.includes(dir) && !raw.includes("hunter2"));
});

test("a file is relative to the agent's workspace, or goes to the skills", async (t) => {
  const { plugin, standin, dir } = await world(t);
  folderOf(dir, { "SKILL.md": "---\nname: x\n---" });
  await plugin.command("ov-import", "./SKILL.md --kind skill");
  const [{ raw } = assert.fail("no upload")] = standin.to("/skills");
  assert.ok(raw.includes('filename="SKILL.md"') && raw.includes("name: x"));
});

test("a URL goes as it is, a repository's as one", async (t) => {
  const { plugin, standin } = await world(t);
  await plugin.command("ov-import", "https://example.org/guide.html --to guide");
  await plugin.command("ov-import", "https://github.com/acme/docs.git");
  assert.deepEqual(standin.to("/resources").map(({ body }) => body), [
    { url: "https://example.org/guide.html", wait: false, to: "guide" },
    { git: "https://github.com/acme/docs.git", wait: false },
  ]);
});

test("who waits is told how it ended", async (t) => {
  const { plugin, standin, dir } = await world(t);
  folderOf(dir, { "guide.md": "x" });
  const states = ["processing", "processing", "ready"];
  const body = (/** @type {string | undefined} */ status) => ({ uri: "viking://~/resources/guide.md", status, taskId: "i_1", detail: "" });
  standin.control.answer = () => ({ body: body(states.shift()) });
  assert.match(await plugin.command("ov-import", `${join(dir, "guide.md")}`), /is being imported as viking/);
  assert.match(await plugin.command("ov-import", `${join(dir, "guide.md")} --wait`), /^Imported as viking/);
  assert.equal(standin.to("/resources/tasks/i_1").length, 1);
  standin.control.answer = () => ({ body: { ...body("failed"), detail: "damaged" } });
  assert.match(await plugin.command("ov-import", `${join(dir, "guide.md")} --wait`), /could not be imported: damaged/);
});

test("a mistake is said in a sentence, and nothing is sent", async (t) => {
  const { plugin, standin, dir } = await world(t);
  mkdirSync(join(dir, "empty"));
  for (const [args, said] of /** @type {[string, RegExp][]} */ ([
    ["", /^Usage: \/ov-import/],
    ["x --kind odd", /^Usage/],
    ["x --kind constructor", /^Usage/],
    ["x --constructor", /is no option/],
    ["x --to", /--to needs a value/],
    ["x --force", /--force is no option/],
    [join(dir, "nowhere"), /there is no such file or folder/],
    [join(dir, "empty"), /holds nothing/],
    ["/dev/null", /neither a file nor a folder/],
  ])) {
    assert.match(await plugin.command("ov-import", args), said);
  }
  assert.match(await plugin.command("ov-search", "  "), /^Usage: \/ov-search/);
  assert.deepEqual(standin.requests, []);
});

test("what the sidecar refuses, and one that is away, are told", async (t) => {
  const { plugin, standin } = await world(t);
  standin.control.answer = () => ({ status: 400, body: { code: "url_refused", detail: "no public address" } });
  assert.match(await plugin.command("ov-import", "http://127.0.0.1/x"), /url_refused: no public address/);
  await standin.stop();
  assert.match(await plugin.command("ov-search", "rollback"), /can not be reached/);
});

test("a search is shown without the tags that are for models", async (t) => {
  const { plugin, standin } = await world(t);
  const text = "<openviking-context>\n## Resources\n- guide.md > Rollback: run `atlas rewind`\n</openviking-context>";
  standin.control.answer = () => ({ body: { ok: true, content: [{ type: "text", text }] } });
  assert.equal(await plugin.command("ov-search", '"go back" --kind resource'), "## Resources\n- guide.md > Rollback: run `atlas rewind`");
  const [{ body } = assert.fail("no call")] = standin.to("/tools/ov_search");
  assert.deepEqual(body.arguments, { query: "go back", kinds: ["resources"] });
  assert.equal(body.sessionKey, "agent:main:commands");
});

test("they can be switched off", async (t) => {
  const { plugin } = await world(t, { commands: false });
  assert.equal(await plugin.command("ov-search", "x"), undefined);
});

test("patterns mean what git says they mean", (t) => {
  const dir = freshDir(t);
  const lines = ["*.log", "!keep.log", "/root.md", "a/b.md", "docs/**/x.md", "out/**", "**/deep", "only/", "[a-c]?.txt", "[!a]z.txt", "\\#hash", "sp\\ ", "a**z", "# no", "", "[open"];
  const paths = ["x.log", "s/x.log", "keep.log", "root.md", "s/root.md", "a/b.md", "s/a/b.md", "docs/x.md", "docs/p/q/x.md", "out/y", "p/deep", "only", "s/only/f", "b1.txt", "d1.txt", "az.txt", "bz.txt", "#hash", "sp ", "aqqz", "a/q/z", "[open", "plain.md"];
  const patterns = patternsIn(lines.join("\n"));
  execFileSync("git", ["init", "-q", dir]);
  writeFileSync(join(dir, ".gitignore"), lines.join("\n"));
  let said = "";
  try {
    said = execFileSync("git", ["-C", dir, "-c", "core.quotePath=false", "check-ignore", "--no-index", "-z", "--stdin"], { input: paths.join("\0"), encoding: "utf8" });
  } catch (error) {
    t.skip(`no git: ${error}`);
  }
  const ignored = paths.filter((path) => {
    const parts = path.split("/");
    return parts.some((_, at) => ignoredBy(patterns, parts.slice(0, at + 1), at < parts.length - 1));
  });
  assert.deepEqual(ignored, said.split("\0").filter(Boolean));
});

test("a pattern made to take long does not", () => {
  const patterns = patternsIn(`${"*a".repeat(500)}\n${"**/x/".repeat(200)}y\n${"\\ ".repeat(1000)}${" ".repeat(100_000)}x`);
  assert.equal(ignoredBy(patterns, ["a".repeat(499)], false), undefined);
  assert.equal(ignoredBy(patterns, Array.from({ length: 250 }, () => "x"), false), undefined);
});

test("what is too large is refused before it is sent", async (t) => {
  const dir = freshDir(t);
  folderOf(dir, { "large.md": "x".repeat(32 * 1024 * 1024) });
  await assert.rejects(readForImport(join(dir, "large.md")), /bytes; \d+ are the most/);
  const noise = async function* () {
    for (let n = 0; n < 9; n++) yield { name: `${n}.md`, data: Buffer.from(Array.from({ length: 1000 }, () => Math.random() * 256)) };
  };
  await assert.rejects(zip(noise(), 5_000), /more than 5000 bytes/);
});
