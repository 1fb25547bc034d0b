// The context engine that OpenClaw makes for every turn, compaction and sub-agent event. It translates: what the model
// sees, what is kept and when a commit is due is decided by the sidecar. No method throws, because the host would go on
// without this engine for the rest of the process.
import { ask, settled, spend, timeLeft } from "./budget.js";
import { PLUGIN_ID, PLUGIN_NAME, PLUGIN_VERSION } from "./config.js";
import { estimateTokens, isMessage, withoutImages } from "./messages.js";
import { pick, scopeOf } from "./scope.js";
import { endSession } from "./sessions.js";
import { sessionOf } from "./spool.js";

/**
 * @import { AssembleParams, AssembleResult, CommitParams, CompactParams, CompactResult, Message } from "./types.d.ts"
 * @import { Runtime, SessionState } from "./state.js"
 */

/** How long a compaction waits for turns of its session that are still in the spool. */
const SETTLE_MS = 3_000;

/**
 * @param {Runtime} runtime
 */
export function createEngine(runtime) {
  const { config } = runtime;
  const turn = {};
  let hasAssembled = false;
  let isAfterCompaction = false;
  /** Of the main call: those of a loop's call leave out what the host can find but does not show. @type {string[] | undefined} */
  let availableTools;

  /** The turn's state; a new engine instance is a new turn, with a new time budget. @param {Record<string, any>} params */
  function sessionOfTurn(params) {
    const session = runtime.session(scopeOf(params));
    if (session.turn !== turn) Object.assign(session, { turn, spentMs: 0 });
    return session;
  }

  /**
   * The history with its archived part replaced by a summary. The host calls this once per attempt, and then again
   * before every model request with the first call's answer: that is already assembled, and asking again in the middle
   * of a turn could move the archive's edge and with it the provider's cached prefix. Only one that has become too
   * long for the request goes to the sidecar once more.
   *
   * @param {AssembleParams} params
   * @returns {Promise<AssembleResult>}
   */
  async function assemble(params) {
    const messages = Array.isArray(params.messages) ? params.messages : [];
    const own = { messages, estimatedTokens: estimateTokens(messages) };
    const isLoop = hasAssembled && !("runtimeContext" in params); // named by the main call, if only as undefined
    hasAssembled = true;
    if (!isLoop && params.availableTools) availableTools = [...params.availableTools];
    if (!config.compaction || (isLoop && own.estimatedTokens <= (params.tokenBudget ?? Infinity))) return own;
    const session = sessionOfTurn(params);
    const scope = scopeOf(params);
    session.isEnded = false;
    session.senderId = undefined; // the hook that comes next knows this turn's
    // Until a reset is through, the sidecar would still show the past that the user has just put away.
    if (await runtime.spool.isPending(sessionOf({ path: "/sessions/reset", body: scope }), "reset")) return own;

    const outgoing = withoutImages(messages);
    if (config.capture) {
      const history = { ...scope, messages: outgoing.messages, ...pick("tokenBudget", params.tokenBudget) };
      void runtime.courier.complete({ path: "/after-turn", body: history }, config.turnBudgetMs);
      keepAppended(session, scope, outgoing.messages.at(-1));
    }
    const body = {
      ...scope,
      phase: "preflight",
      messages: outgoing.messages,
      ...pick("prompt", params.prompt),
      ...pick("tokenBudget", params.tokenBudget),
      ...pick("model", params.model),
      ...pick("availableTools", availableTools ?? (params.availableTools && [...params.availableTools])),
    };
    // What a session begins with is made with its first request, and is to stand in the prompt from then on.
    const mostMs = isAfterCompaction || !session.hasBegun ? config.turnBudgetMs : config.assembleTimeoutMs;
    isAfterCompaction = false;
    session.hasBegun = true;
    const answer = await ask(runtime, session, "/assemble", body, mostMs);
    return assembled(answer, messages, outgoing.restore) ?? own;
  }

  /**
   * Hands over the assistant's last message when the host may have appended to it: the reply to a sub-agent's result is
   * put there without a turn of its own. A turn without a key, of which the sidecar takes what it does not have.
   *
   * @param {SessionState} session
   * @param {Record<string, any>} scope
   * @param {Message | undefined} last
   */
  function keepAppended(session, scope, last) {
    if (last?.role !== "assistant" || !Array.isArray(last.content)) return;
    const texts = last.content.filter((block) => block?.type === "text").length;
    const seen = `${last.timestamp} ${texts}`;
    if (texts < 2 || session.appended === seen) return;
    session.appended = seen;
    void runtime.courier.submit({ path: "/after-turn", body: { ...scope, messages: [last] } }, config.commitTimeoutMs);
  }

  /**
   * Hands an accepted turn over. "committed" means that it is safe: with the sidecar, or on this disk until the sidecar
   * has it.
   *
   * @param {CommitParams} params
   * @returns {Promise<{status: "committed" | "duplicate"}>}
   */
  async function commitTurn(params) {
    if (!config.capture) return { status: "committed" };
    const session = sessionOfTurn(params);
    session.isEnded = false;
    const body = {
      ...scopeOf(params, session),
      advancementKey: params.advancementKey,
      messages: withoutImages(params.messages).messages,
      prePromptMessageCount: 0,
      isHeartbeat: params.isHeartbeat === true,
      ...pick("tokenBudget", params.runtimeContext?.tokenBudget),
    };
    const timeoutMs = timeLeft(runtime, session, config.commitTimeoutMs);
    const status = await spend(session, () => runtime.courier.submit({ path: "/after-turn", body }, timeoutMs));
    return { status };
  }

  /**
   * Archives the past. Where the sidecar can not, the host's own compaction is asked, so that a session that outgrew the
   * model's window does not end there.
   *
   * @param {CompactParams} params
   * @returns {Promise<CompactResult>}
   */
  async function compact(params) {
    if (!config.compaction) return compactByHost(params, "compaction is switched off");
    if (params.abortSignal?.aborted) return notCompacted("aborted");
    if (runtime.circuit.isOpen) return compactByHost(params, "the sidecar is out of use");
    await runtime.courier.settle(SETTLE_MS);
    const timeoutMs = config.compactTimeoutMs;
    const body = {
      ...scopeOf(params),
      ...pick("tokenBudget", params.tokenBudget),
      ...pick("currentTokenCount", params.currentTokenCount),
      ...pick("force", params.force),
      ...pick("compactionTarget", params.compactionTarget),
      ...pick("customInstructions", params.customInstructions ?? params.runtimeContext?.customInstructions),
      deadlineMs: Math.floor(timeoutMs * 0.95),
    };
    const outcome = await runtime.client.post("/compact", body, { timeoutMs, ...pick("signal", params.abortSignal) });
    const answer = settled(runtime, "/compact", outcome);
    if (outcome.kind === "aborted") return notCompacted("aborted");
    renewBudget(params);
    return compacted(answer) ?? compactByHost(params, outcome.kind === "ok" ? "no usable answer" : outcome.why);
  }

  return {
    info: {
      id: PLUGIN_ID,
      name: PLUGIN_NAME,
      version: PLUGIN_VERSION,
      ownsCompaction: config.compaction,
      // Without these two and commitTurn the host passes this engine over.
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },
    /** Every attempt but a session's very first begins with this. */
    bootstrap: async () => {
      hasAssembled = false;
      return { bootstrapped: true };
    },
    ingest: async () => ({ ingested: false }), // turns come whole, by commitTurn
    assemble: guarded(runtime, assemble, ({ messages }) => ({ messages: messages ?? [], estimatedTokens: 0 })),
    commitTurn: guarded(runtime, commitTurn, () => ({ status: /** @type {const} */ ("committed") })),
    compact: guarded(runtime, compact, (_params, error) => notCompacted(String(error))),
    /**
     * Only remembers whose child a sub-agent's session is: its turns do not say.
     * @param {{childSessionKey: string, parentSessionKey?: string}} params
     */
    prepareSubagentSpawn: guarded(
      runtime,
      async ({ childSessionKey, parentSessionKey }) => {
        runtime.session({ sessionKey: childSessionKey }).parentSession = parentSessionKey;
        return undefined;
      },
      () => undefined,
    ),
    /** @param {{childSessionKey: string}} params */
    onSubagentEnded: guarded(runtime, ({ childSessionKey }) => endSession(runtime, { sessionKey: childSessionKey }), () => undefined),
  };

  /** The attempt that follows a compaction is lost without the shorter history: it has the turn's time to itself. @param {CompactParams} params */
  function renewBudget(params) {
    sessionOfTurn(params).spentMs = 0;
    hasAssembled = false;
    isAfterCompaction = true;
  }

  /** @param {CompactParams} params @param {string} why @returns {Promise<CompactResult>} */
  async function compactByHost(params, why) {
    try {
      const sdk = await import(/** @type {string} */ ("openclaw/plugin-sdk/core"));
      return await sdk.delegateCompactionToRuntime(params);
    } catch (error) {
      runtime.logger().warn(`${PLUGIN_ID}: neither the sidecar (${why}) nor the host could compact: ${error}`);
      return notCompacted(why);
    }
  }
}

/**
 * The host's result from an answer of /assemble; null when it is not fit to replace the host's own messages.
 *
 * @param {Record<string, any> | null} answer
 * @param {Message[]} messages
 * @param {(answered: Message[]) => Message[]} restore
 * @returns {AssembleResult | null}
 */
function assembled(answer, messages, restore) {
  if (!answer || !Array.isArray(answer.messages) || !answer.messages.every(isMessage)) return null;
  if (messages.length > 0 && answer.messages.length === 0) return null;
  const shown = answer.status === "passthrough" ? messages : restore(answer.messages);
  const counted = Number.isFinite(answer.estimatedTokens) && answer.estimatedTokens >= 0;
  const addition = answer.systemPromptAddition;
  return {
    messages: shown,
    estimatedTokens: counted ? Math.ceil(answer.estimatedTokens) : estimateTokens(shown),
    ...(typeof addition === "string" && addition ? { systemPromptAddition: addition } : {}),
  };
}

/**
 * The host's result from an answer of /compact; null when it has not the shape.
 *
 * @param {Record<string, any> | null} answer
 * @returns {CompactResult | null}
 */
function compacted(answer) {
  if (!answer || typeof answer.ok !== "boolean" || typeof answer.compacted !== "boolean") return null;
  const result = answer.result && typeof answer.result === "object" ? answer.result : undefined;
  const before = Number.isFinite(result?.tokensBefore) ? result.tokensBefore : 0;
  return {
    ok: answer.ok,
    compacted: answer.ok && answer.compacted,
    ...(typeof answer.reason === "string" ? { reason: answer.reason } : {}),
    ...(result ? { result: { ...result, tokensBefore: before } } : {}),
  };
}

/** @param {string} reason @returns {CompactResult} */
function notCompacted(reason) {
  return { ok: false, compacted: false, reason };
}

/**
 * `method`, answering with `fallback` where it would throw.
 *
 * @template P, R
 * @param {Runtime} runtime
 * @param {(params: P) => Promise<R>} method
 * @param {(params: P, error: unknown) => R} fallback
 * @returns {(params: P) => Promise<R>}
 */
function guarded(runtime, method, fallback) {
  return async (params) => {
    try {
      return await method(params);
    } catch (error) {
      runtime.logger().error(`${PLUGIN_ID}: ${method.name} went wrong: ${error instanceof Error ? error.stack : error}`);
      return fallback(params, error);
    }
  };
}
