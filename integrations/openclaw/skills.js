// A skill's memory: when the agent reads a skill, what was learnt of it follows the file's own text. The host shows the model
// what comes back from here in the same turn, and an error where this throws, so whatever goes wrong changes nothing.
import { ask } from "./budget.js";
import { PLUGIN_ID } from "./config.js";
import { scopeOf } from "./scope.js";

/**
 * @import { Runtime } from "./state.js"
 * @import { ToolResult } from "./types.d.ts"
 * @typedef {{toolName?: string, args?: Record<string, unknown>, isError?: boolean, result?: ToolResult}} ToolResultEvent
 */

/** What names a skill's file; which calls read one is decided by the sidecar. */
const SKILL_FILE = /skills[\\/][^\\/]{1,100}[\\/]SKILL\.md/i;
/** A longer argument is content, and no path or command. */
const MAX_ARGUMENT_CHARS = 1_000;
/** Of one text the host takes no more from here. */
const MAX_TEXT_CHARS = 100_000;
const MAX_DEPTH = 4;

/**
 * The result with the skill's memory behind its text; nothing where it stays as it is. Never rejects.
 *
 * @param {Runtime} runtime
 * @param {ToolResultEvent} event
 * @param {Record<string, any>} context
 * @returns {Promise<{result: ToolResult} | undefined>}
 */
export async function skillMiddleware(runtime, event, context) {
  try {
    const { toolName, args, isError, result } = event;
    if (!toolName || isError || !result || !namesSkill(args)) return undefined;
    const last = result.content?.at(-1);
    if (last?.type !== "text") return undefined;
    const scope = scopeOf(context);
    const body = {
      ...scope,
      phase: "transform",
      inject: "block",
      triggerHint: "skill_load",
      toolCall: { name: toolName, arguments: args },
      messages: [],
    };
    const answer = await ask(runtime, runtime.session(scope), "/assemble", body, runtime.config.recallTimeoutMs);
    const block = answer?.contextBlock;
    if (typeof block !== "string" || !block) return undefined;
    const text = `${last.text}\n\n${block}`;
    if (text.length > MAX_TEXT_CHARS) return undefined;
    return { result: { ...result, content: [...result.content.slice(0, -1), { ...last, text }] } };
  } catch (error) {
    runtime.logger().error(`${PLUGIN_ID}: a skill's memory went wrong: ${error}`);
    return undefined;
  }
}

/** Whether a call's arguments name a skill's file. @param {unknown} value @param {number} [depth] @returns {boolean} */
function namesSkill(value, depth = MAX_DEPTH) {
  if (typeof value === "string") return value.length <= MAX_ARGUMENT_CHARS && SKILL_FILE.test(value);
  return depth > 0 && typeof value === "object" && value !== null && Object.values(value).some((one) => namesSkill(one, depth - 1));
}
