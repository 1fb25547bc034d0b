// Guidance before a write: what the agent learnt from calls like this is shown once, in the place of the call, and the
// model decides again. Whatever goes wrong here, the call goes on: a host that waits in vain would refuse it.
import { ask } from "./budget.js";
import { scopeOf } from "./scope.js";

/**
 * @import { Runtime } from "./state.js"
 * @typedef {{toolName?: string, params?: Record<string, unknown>}} ToolCallEvent
 */

/** Tools that change something, by their names; ours are not among them. */
const WRITES = /(?:^|_)(?:write|edit|multiedit|patch|apply|create|delete|remove|replace|move|rename|deploy|publish)/i;
const OURS = /^(?:memory|ov)_/;
const TARGETS = ["path", "file_path", "filePath", "file", "filename", "target", "uri", "url", "id", "name"];
/** Calls of a session that were looked at; the oldest are forgotten. */
const MAX_SEEN = 500;
/** Of an argument so much is searched for. */
const MAX_ARGUMENT_CHARS = 2_000;
const MAX_TARGET_CHARS = 300;
const HELD =
  "Not done yet: this is held once, to show what was learnt from calls like it. Read it, then make the call again, " +
  "changed or as it was; it will not be held again.";

/**
 * Holds a write back with what is known about it, or lets it go on.
 *
 * @param {Runtime} runtime
 * @param {ToolCallEvent} event
 * @param {Record<string, any>} context
 * @returns {Promise<{block: true, blockReason: string} | undefined>}
 */
export async function writeHook(runtime, event, context) {
  const name = event.toolName ?? "";
  if (!runtime.config.writePreflight || OURS.test(name) || !WRITES.test(name)) return undefined;
  const scope = scopeOf(context);
  const session = runtime.session(scope);
  const call = `${name} ${targetOf(event.params ?? {})}`;
  const seen = (session.calls ??= new Set());
  if (seen.has(call)) return undefined;
  seen.add(call);
  if (seen.size > MAX_SEEN) seen.delete(seen.values().next().value ?? "");
  const body = {
    ...scope,
    phase: "transform",
    inject: "block",
    triggerHint: "write_preflight",
    toolCall: { name, arguments: shortened(event.params ?? {}) },
    messages: [],
  };
  const answer = await ask(runtime, session, "/assemble", body, runtime.config.recallTimeoutMs);
  const block = answer?.contextBlock;
  return typeof block === "string" && block ? { block: true, blockReason: `${HELD}\n\n${block}` } : undefined;
}

/** The arguments without the bulk of a file's content. @param {Record<string, unknown>} params */
function shortened(params) {
  const short = Object.entries(params).map(([name, value]) => [name, typeof value === "string" ? value.slice(0, MAX_ARGUMENT_CHARS) : value]);
  return JSON.stringify(params).length <= 4 * MAX_ARGUMENT_CHARS ? params : Object.fromEntries(short.filter(([, value]) => typeof value === "string"));
}

/** What a call is about to change: the file it names, else all that it is called with. @param {Record<string, unknown>} params */
function targetOf(params) {
  const named = TARGETS.map((name) => params[name]).find((value) => typeof value === "string" && value);
  return String(named ?? JSON.stringify(params)).slice(0, MAX_TARGET_CHARS);
}
