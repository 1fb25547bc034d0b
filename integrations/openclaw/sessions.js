// The ends of sessions. They travel like turns do, behind whatever of the session still waits.
import { scopeOf } from "./scope.js";

/**
 * @import { Scope } from "./types.d.ts"
 * @import { Runtime } from "./state.js"
 */

/** The session's id goes on, or nothing ended: the sidecar commits by itself when a session falls silent. */
const NO_END = new Set(["compaction", "shutdown", "restart"]);

/**
 * A reset keeps the session's id: the sidecar must begin a new epoch or the old summary would come back.
 *
 * @param {Runtime} runtime
 * @param {Record<string, any>} context
 */
export async function beforeReset(runtime, context) {
  const scope = scopeOf(context);
  runtime.session(scope).resetSeen = true;
  await tell(runtime, "/sessions/reset", scope);
}

/**
 * A session ended. A reset was told by `beforeReset` already; hosts that replace a session's content without that hook
 * (idle, daily) name the same id as the next one.
 *
 * @param {Runtime} runtime
 * @param {{sessionId?: string, sessionKey?: string, reason?: string, nextSessionId?: string}} event
 * @param {Record<string, any>} context
 */
export async function sessionEnd(runtime, event, context) {
  const scope = scopeOf({ ...context, ...event });
  const session = runtime.session(scope);
  const wasReset = session.resetSeen;
  session.resetSeen = false;
  if (NO_END.has(event.reason ?? "") || wasReset) return;
  const goesOn = event.nextSessionId !== undefined && event.nextSessionId === scope.sessionId;
  if (goesOn || event.reason === "reset") await tell(runtime, "/sessions/reset", scope);
  else await endSession(runtime, scope);
}

/**
 * Tells the end of a session once. Without its id there is nothing to tell: the sidecar knows sessions by it.
 *
 * @param {Runtime} runtime
 * @param {Scope} scope
 */
export async function endSession(runtime, scope) {
  const session = runtime.session(scope);
  const sessionId = scope.sessionId ?? session.sessionId;
  if (!sessionId || session.isEnded) return;
  session.isEnded = true;
  await tell(runtime, "/sessions/end", { ...scopeOf(scope), sessionId });
}

/** @param {Runtime} runtime @param {"/sessions/reset" | "/sessions/end"} path @param {Scope} scope */
async function tell(runtime, path, scope) {
  if (!scope.sessionId && !scope.sessionKey) return;
  await runtime.courier.submit({ path, body: { ...scope } }, runtime.config.sessionTimeoutMs);
}
