// Who is calling, from what OpenClaw says, in the words of the sidecar's contract.

/** @import { Scope } from "./types.d.ts" */

/**
 * The scope of an engine call or of a hook's context.
 *
 * @param {Record<string, any>} params
 * @param {{senderId?: string, parentSession?: string}} [known] what another call told
 * @returns {Scope}
 */
export function scopeOf(params, known = {}) {
  const context = params.runtimeContext ?? {};
  const sessionKey = text(params.sessionKey) ?? text(context.sessionKey);
  const kind = automationKind(sessionKey, params);
  const runtimeContext = {
    ...(kind === "cron" ? { isCron: true } : {}),
    ...(kind && kind !== "subagent" ? { automationKind: kind } : {}), // a sub-agent is known by its key
    ...pick("trigger", text(params.trigger) ?? text(context.trigger)),
    ...pick("tokenBudget", positive(context.tokenBudget)),
    ...pick("chatType", text(params.chatType) ?? text(context.chatType) ?? chatTypeOfKey(sessionKey)),
  };
  return {
    ...pick("sessionId", text(params.sessionId) ?? text(context.sessionId)),
    ...pick("sessionKey", sessionKey),
    ...pick("agentId", agentOf(params, sessionKey)),
    ...pick("parentSession", text(known.parentSession)),
    ...pick("senderId", text(params.senderId) ?? text(context.senderId) ?? known.senderId),
    ...(Object.keys(runtimeContext).length ? { runtimeContext } : {}),
  };
}

/**
 * What started this turn, if no person did. Keys look like `agent:main:cron:<job>:run:<uuid>` and
 * `agent:main:subagent:<uuid>`; a heartbeat runs in the agent's main session and is only known by its trigger.
 *
 * @param {string | undefined} sessionKey
 * @param {Record<string, any>} params
 * @returns {"cron" | "heartbeat" | "subagent" | undefined}
 */
export function automationKind(sessionKey, params) {
  const parts = (sessionKey ?? "").split(":").slice(2);
  if (params.isHeartbeat === true || params.trigger === "heartbeat") return "heartbeat";
  if (parts.includes("cron") || params.trigger === "cron") return "cron";
  if (parts.includes("subagent")) return "subagent";
  return undefined;
}

/**
 * Whether others read along, by keys such as `agent:main:telegram:group:<id>`: what is private stays out of such chats.
 *
 * @param {string | undefined} sessionKey
 */
function chatTypeOfKey(sessionKey) {
  const parts = (sessionKey ?? "").split(":").slice(2);
  return parts.includes("group") || parts.includes("channel") ? "group" : undefined;
}

/** @param {Record<string, any>} params @param {string | undefined} sessionKey */
function agentOf(params, sessionKey) {
  const named = [params.agentId, params.admission?.agentId, params.sessionTarget?.agentId, params.runtimeContext?.agentId];
  return named.map(text).find(Boolean) ?? /^agent:([^:]+):/.exec(sessionKey ?? "")?.[1];
}

/**
 * `{name: value}`, or nothing when there is no value.
 *
 * @template T
 * @param {string} name
 * @param {T | undefined} value
 */
export function pick(name, value) {
  return value === undefined ? {} : { [name]: value };
}

/** @param {unknown} value */
function text(value) {
  return typeof value === "string" && value.trim() ? value : undefined;
}

/** @param {unknown} value */
function positive(value) {
  return Number.isInteger(value) && Number(value) > 0 ? Number(value) : undefined;
}
