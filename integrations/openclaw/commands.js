// Slash commands, which go past the model: /ov-import adds a document or a skill, /ov-search looks for what was added.
import { homedir } from "node:os";
import { basename, resolve } from "node:path";
import { PLUGIN_ID } from "./config.js";
import { readForImport } from "./folder.js";
import { scopeOf } from "./scope.js";

/**
 * @import { CommandContext, HostApi, Outcome } from "./types.d.ts"
 * @import { Runtime } from "./state.js"
 * @typedef {{words: string[], options: Record<string, string>}} Typed
 */

const IMPORT_USAGE = "Usage: /ov-import PATH|URL [--to PLACE] [--kind resource|skill] [--wait]";
const SEARCH_USAGE = "Usage: /ov-search QUERY [--kind resource|skill|memory]";
const IMPORTS = new Map([["resource", "/resources"], ["skill", "/skills"]]);
const SEARCHED = new Map([["resource", "resources"], ["skill", "skills"], ["memory", "memories"]]);
/** How often an import is looked at that somebody waits for. */
const LOOK_EVERY_MS = 500;
/** Tags around what was stored: they are for models. */
const FENCE = /^<\/?openviking-context>$/;
const MAX_ARGS_CHARS = 4_000;

/** Somebody typed something that can not be done; the message says what. */
class Mistake extends Error {}

/**
 * @param {HostApi} api
 * @param {() => Runtime} runtime
 */
export function registerCommands(api, runtime) {
  /** @param {string} name @param {(context: CommandContext) => Promise<string>} run */
  const handler = (name, run) => async (/** @type {CommandContext} */ context) => {
    try {
      return { text: await run(context ?? {}) };
    } catch (error) {
      if (error instanceof Mistake) return { text: error.message };
      runtime().logger().error(`${PLUGIN_ID}: /${name} went wrong: ${error}`);
      return { text: `/${name} went wrong; the log says how.` };
    }
  };
  api.registerCommand?.({
    name: "ov-import",
    description: "Import a document or a skill: a file, a folder, a URL.",
    acceptsArgs: true,
    requiredScopes: ["operator.write"], // it reads files of this machine: in a chat, for the owner alone
    handler: handler("ov-import", (context) => importDocument(runtime(), context, workspaceOf(api, context))),
  });
  api.registerCommand?.({
    name: "ov-search",
    description: "Search documents and skills.",
    acceptsArgs: true,
    handler: handler("ov-search", (context) => search(runtime(), context)),
  });
}

/**
 * @param {Runtime} runtime
 * @param {CommandContext} context
 * @param {string} workspace what a path is relative to
 */
async function importDocument(runtime, context, workspace) {
  const { words, options } = typed(context.args, { to: true, kind: true, wait: false });
  const source = words.join(" ");
  const path = IMPORTS.get(options.kind ?? "resource");
  if (!source || !path) throw new Mistake(IMPORT_USAGE);
  const until = performance.now() + runtime.config.importTimeoutMs;
  const accepted = bodyOf(source, await send(runtime, path, source, options, workspace));
  const ended = options.wait ? await followed(runtime, source, accepted, until) : accepted;
  if (ended.status === "failed") throw new Mistake(`${source} could not be imported: ${ended.detail}`);
  const done = ended.status === "ready" ? "Imported as" : "It is being imported as";
  return `${done} ${ended.uri}${ended.detail ? ` (${ended.detail})` : ""}`;
}

/**
 * @param {Runtime} runtime
 * @param {string} path
 * @param {string} source
 * @param {Record<string, string>} options
 * @param {string} workspace
 * @returns {Promise<Outcome>}
 */
async function send(runtime, path, source, options, workspace) {
  const timeoutMs = runtime.config.importTimeoutMs;
  const { to } = options;
  const wait = Boolean(options.wait);
  if (/^https?:\/\//i.test(source)) {
    const field = source.endsWith(".git") ? "git" : "url";
    return runtime.client.post(path, { [field]: source, wait, ...(to ? { to } : {}) }, { timeoutMs });
  }
  const place = resolve(workspace, source.replace(/^~(?=$|\/)/, homedir()));
  const file = await readForImport(place).catch((error) => {
    throw new Mistake(`${source} can not be imported: ${error.code === "ENOENT" ? "there is no such file or folder" : error.message}`);
  });
  const form = new FormData();
  form.set("wait", String(wait));
  if (to) form.set("to", to);
  form.set("file", new Blob([new Uint8Array(file.data)], { type: file.type }), file.name || basename(place));
  return runtime.client.upload(path, form, { timeoutMs });
}

/**
 * The import once it has ended, or as it is when the time is over.
 *
 * @param {Runtime} runtime
 * @param {string} source
 * @param {Record<string, any>} accepted
 * @param {number} until
 */
async function followed(runtime, source, accepted, until) {
  let now = accepted;
  while (now.status === "processing" && performance.now() < until) {
    await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
    const timeoutMs = runtime.config.toolTimeoutMs;
    now = bodyOf(source, await runtime.client.get(`/resources/tasks/${encodeURIComponent(now.taskId)}`, { timeoutMs }));
  }
  return now;
}

/** @param {Runtime} runtime @param {CommandContext} context */
async function search(runtime, context) {
  const { words, options } = typed(context.args, { kind: true });
  const query = words.join(" ");
  const kinds = options.kind === undefined ? ["resources", "skills"] : [SEARCHED.get(options.kind)];
  if (!query || kinds.includes(undefined)) throw new Mistake(SEARCH_USAGE);
  const timeoutMs = runtime.config.toolTimeoutMs;
  const body = { ...scopeOf(context), arguments: { query, kinds } };
  const { content } = bodyOf(query, await runtime.client.post("/tools/ov_search", body, { timeoutMs }));
  const lines = (content ?? []).flatMap((/** @type {{text?: string}} */ block) => String(block?.text ?? "").split("\n"));
  return lines.filter((/** @type {string} */ line) => !FENCE.test(line.trim())).join("\n").trim();
}

/** @param {string} what @param {Outcome} outcome */
function bodyOf(what, outcome) {
  if (outcome.kind === "ok") return outcome.body;
  const why = outcome.kind === "rejected" ? outcome.why : `the sidecar can not be reached (${outcome.why})`;
  throw new Mistake(`${what}: not done, ${why}`);
}

/**
 * What stands behind a command: words, in quotes where they hold spaces, and options, of which some take a value.
 *
 * @param {string | undefined} args
 * @param {Record<string, boolean>} known
 * @returns {Typed}
 */
function typed(args, known) {
  const text = (args ?? "").slice(0, MAX_ARGS_CHARS);
  const found = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => ({
    text: double ?? single ?? bare ?? "",
    isBare: bare !== undefined,
  }));
  /** @type {Typed} */
  const result = { words: [], options: {} };
  for (let at = 0; at < found.length; at++) {
    const { text: word, isBare } = /** @type {{text: string, isBare: boolean}} */ (found[at]);
    const name = isBare && word.startsWith("--") ? word.slice(2) : undefined;
    if (name === undefined) {
      result.words.push(word);
      continue;
    }
    if (!Object.hasOwn(known, name)) throw new Mistake(`--${name} is no option here`);
    const value = known[name] ? found[++at]?.text : "true";
    if (!value) throw new Mistake(`--${name} needs a value`);
    result.options[name] = value;
  }
  return result;
}

/** Where the agent works. @param {HostApi} api @param {CommandContext} context */
function workspaceOf(api, context) {
  try {
    const dir = api.runtime?.agent?.resolveAgentWorkspaceDir?.(context.config, context.agentId ?? "main");
    if (dir) return dir;
  } catch {
    // A host that does not tell: relative to where it was started.
  }
  return process.cwd();
}
