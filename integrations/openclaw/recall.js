// Recall: what earlier sessions know goes in front of the prompt by the hook before_prompt_build, the one place that sees
// the current prompt and whose addition the host does not store.
import { ask } from "./budget.js";
import { PLUGIN_ID } from "./config.js";
import { tail, withoutImages } from "./messages.js";
import { automationKind, pick, scopeOf } from "./scope.js";
import { evict } from "./state.js";

/**
 * @import { Runtime } from "./state.js"
 * @typedef {{prompt?: string, currentUserMessage?: string, messages?: unknown}} PromptEvent
 */

const MAX_ERROR_CHARS = 500;
/** Jobs whose last errors are remembered; the oldest are forgotten. */
const MAX_JOBS = 200;

/**
 * The block for this run, or nothing. The host may build the prompt several times in one run (retry, overflow,
 * another model), with the prompt decorated anew: the first recall serves them all.
 *
 * @param {Runtime} runtime
 * @param {PromptEvent} event
 * @param {Record<string, any>} context
 * @returns {Promise<{prependContext: string} | undefined>}
 */
export async function recallHook(runtime, event, context) {
  const prompt = event.currentUserMessage?.trim() ? event.currentUserMessage : event.prompt;
  const kind = automationKind(context.sessionKey, context);
  if (!runtime.config.recall || !prompt?.trim() || kind === "heartbeat") return undefined;
  const session = runtime.session(scopeOf(context));
  session.senderId = context.senderId ?? session.senderId;
  const run = String(context.runId ?? prompt);
  if (session.recall?.run !== run) session.recall = { run, block: recall(runtime, prompt, event, context, kind) };
  const block = await session.recall.block;
  return block ? { prependContext: block } : undefined;
}

/**
 * @param {Runtime} runtime
 * @param {string} prompt
 * @param {PromptEvent} event
 * @param {Record<string, any>} context
 * @param {ReturnType<typeof automationKind>} kind
 * @returns {Promise<string | undefined>} never rejects
 */
async function recall(runtime, prompt, event, context, kind) {
  try {
    const session = runtime.session(scopeOf(context));
    const scope = scopeOf(context, pick("parentSession", session.parentSession));
    const history = tail(event.messages);
    const isStart = history.length === 0;
    const body = {
      ...scope,
      phase: "transform",
      inject: "block",
      messages: [...withoutImages(history).messages, { role: "user", content: prompt }],
      ...(isStart && kind === "cron" ? { triggerHint: "cron_start", ...pick("automation", automationOf(runtime, event.prompt)) } : {}),
      ...(isStart && kind === "subagent" ? { triggerHint: "subagent_start" } : {}),
    };
    const answer = await ask(runtime, session, "/assemble", body, runtime.config.recallTimeoutMs);
    // With `block`, the note that goes with a pasted transcript comes as an addition; it belongs beside the block.
    return [answer?.contextBlock, answer?.systemPromptAddition].filter((text) => typeof text === "string" && text).join("\n\n");
  } catch (error) {
    runtime.logger().error(`${PLUGIN_ID}: recall went wrong: ${error}`);
    return undefined;
  }
}

/**
 * The name of a scheduled job, by the mark in front of its prompt (`[cron:<id> <name>] ...`), and how its last run failed.
 *
 * @param {Runtime} runtime
 * @param {string | undefined} prompt
 */
function automationOf(runtime, prompt) {
  const [, id = "", name] = /^\[cron:([^\s\]]{1,100}) ([^\]]{1,200})\]/.exec(prompt ?? "") ?? [];
  return name ? { name, ...pick("lastError", runtime.jobErrors.get(id)) } : undefined;
}

/**
 * Remembers how a scheduled job failed, until it works again or is removed: its next run is told.
 *
 * @param {Runtime} runtime
 * @param {{action?: string, jobId?: string, error?: string, completionStatus?: string}} event
 */
export function noteJob({ jobErrors }, { action, jobId, error, completionStatus }) {
  if (typeof jobId !== "string" || !["finished", "removed"].includes(action ?? "")) return;
  jobErrors.delete(jobId);
  if (action === "removed" || completionStatus === "succeeded" || typeof error !== "string" || !error) return;
  jobErrors.set(jobId, error.slice(0, MAX_ERROR_CHARS));
  evict(jobErrors, MAX_JOBS);
}
