// The sidecar's tools for the agent. Their definitions are generated from the sidecar's own (tools.json); each call goes
// there, and its answer goes to the model as it is. In an outage nothing that was to be kept is lost: a memory waits in the
// spool, and of everything else the model is told that it was not done.
import { readFileSync } from "node:fs";
import { settled } from "./budget.js";
import { PLUGIN_ID } from "./config.js";
import { scopeOf } from "./scope.js";

/**
 * @import { HostApi, Letter, Outcome, ToolContext, ToolDefinition, ToolResult } from "./types.d.ts"
 * @import { Runtime } from "./state.js"
 */

/** @type {ToolDefinition[]} */
const DEFINITIONS = JSON.parse(readFileSync(new URL("./tools.json", import.meta.url), "utf8"));
/** Of the time-out, what the sidecar may use: its answer has to get here. */
const SIDECAR_SHARE = 0.95;
const UNKNOWN_TOOL = "HTTP 404";

const KEPT = "The memory service can not be reached. This is kept on this machine and will be remembered when it is back.";
const HELD = "The memory service can not be reached, nor can the disk be written. This is remembered unless OpenClaw stops before it is back.";
const NOT_DONE = "The memory service can not be reached, so this was not done. Go on without it, and tell the user if it matters.";
const NOT_HERE = "The memory service does not have this tool. Go on without it.";

/**
 * @param {HostApi} api
 * @param {() => Runtime} runtime
 */
export function registerTools(api, runtime) {
  for (const definition of DEFINITIONS) {
    const { name, description, parameters } = definition;
    api.registerTool(
      (context) => ({
        name,
        label: name,
        description,
        parameters,
        /** @param {string} _id @param {Record<string, unknown>} params @param {AbortSignal} [signal] */
        execute: async (_id, params, signal) => call(runtime(), definition, context ?? {}, params ?? {}, signal),
      }),
      { name },
    );
  }
}

/**
 * Never throws: what went wrong is told to the model.
 *
 * @param {Runtime} runtime
 * @param {ToolDefinition} definition
 * @param {ToolContext} context
 * @param {Record<string, unknown>} params
 * @param {AbortSignal} [signal]
 * @returns {Promise<ToolResult>}
 */
async function call(runtime, definition, context, params, signal) {
  try {
    const scope = scopeOf({ ...context, senderId: context.requesterSenderId });
    const known = runtime.session(scope);
    const body = { ...scopeOf(scope, known), arguments: params };
    const letter = keepable(definition, body);
    return letter ? await change(runtime, letter) : await look(runtime, `/tools/${definition.name}`, body, signal);
  } catch (error) {
    runtime.logger().error(`${PLUGIN_ID}: ${definition.name} went wrong: ${error}`);
    return told(NOT_DONE, { ok: false, reason: "plugin_error" });
  }
}

/**
 * The call as a letter, where it can be done later as well as now: what is to be stored, and a memory that is to be
 * forgotten by its id. A query may mean another memory by then.
 *
 * @param {ToolDefinition} definition
 * @param {Record<string, any>} body
 * @returns {Letter | null}
 */
function keepable({ name }, body) {
  const { text, memory_content: content, id } = body.arguments;
  if (name === "memory_store" && isText(text ?? content)) return { path: "/tools/memory_store", body };
  if (name === "memory_forget" && isText(id)) return { path: "/tools/memory_forget", body };
  return null;
}

/** @param {Runtime} runtime @param {Letter} letter */
async function change(runtime, letter) {
  const outcome = await runtime.courier.submitTool(letter, runtime.config.toolTimeoutMs);
  if (outcome.kind === "kept") return told(outcome.where === "disk" ? KEPT : HELD, { ok: true, reason: "kept" });
  return answerOf(outcome);
}

/**
 * @param {Runtime} runtime
 * @param {string} path
 * @param {Record<string, unknown>} body
 * @param {AbortSignal} [signal]
 */
async function look(runtime, path, body, signal) {
  if (runtime.circuit.isOpen) return told(NOT_DONE, { ok: false, reason: "sidecar_down" });
  const timeoutMs = runtime.config.toolTimeoutMs;
  const deadlineMs = Math.max(1, Math.floor(timeoutMs * SIDECAR_SHARE));
  const outcome = await runtime.client.post(path, { ...body, deadlineMs }, { timeoutMs, ...(signal ? { signal } : {}) });
  const isOld = outcome.kind === "down" && outcome.why.startsWith(UNKNOWN_TOOL);
  if (!isOld) settled(runtime, path, outcome);
  return answerOf(outcome);
}

/** @param {Outcome} outcome @returns {ToolResult} */
function answerOf(outcome) {
  if (outcome.kind === "ok") {
    const { ok, reason, content, details } = outcome.body;
    const texts = Array.isArray(content) ? content.filter((block) => isText(block?.text)) : [];
    if (typeof ok === "boolean" && texts.length) {
      return { content: texts.map(({ text }) => ({ type: "text", text })), details: { ok, reason, ...details } };
    }
  }
  if (outcome.kind === "down" && outcome.why.startsWith(UNKNOWN_TOOL)) return told(NOT_HERE, { ok: false, reason: "not_found" });
  const why = outcome.kind === "rejected" ? ` (${outcome.why})` : "";
  return told(`${NOT_DONE}${why}`, { ok: false, reason: outcome.kind === "rejected" ? "rejected" : "sidecar_down" });
}

/** @param {string} text @param {Record<string, unknown>} details @returns {ToolResult} */
function told(text, details) {
  return { content: [{ type: "text", text }], details };
}

/** @param {unknown} value @returns {value is string} */
function isText(value) {
  return typeof value === "string" && value.trim() !== "";
}
