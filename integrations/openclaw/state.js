// What all copies of this plugin in one process share. OpenClaw loads the code more than once (the engine in one copy,
// the hooks in another) and makes an engine per turn; module variables are private to a copy, globalThis is not.
import { homedir } from "node:os";
import { join } from "node:path";
import { createBackendWatch, createCircuit } from "./circuit.js";
import { createClient } from "./client.js";
import { PLUGIN_ID } from "./config.js";
import { createCourier } from "./courier.js";
import { createIncomplete } from "./incomplete.js";
import { createSpool } from "./spool.js";

/** @import { Config, HostApi, Logger, Scope } from "./types.d.ts" */

const SHARED = Symbol.for("openviking-sidecar.openclaw.v1");
const MAX_SESSIONS = 1_000;
const MAX_RUNTIMES = 4;
const MAX_SAID = 100;

/**
 * What is remembered of a session while it is in use: all of it may be forgotten at any time.
 *
 * @typedef {object} SessionState
 * @property {string} [sessionId]
 * @property {string} [senderId] of the turn under way; only the hooks are told
 * @property {unknown} [turn] the engine instance that `spentMs` is about
 * @property {number} spentMs of the turn's time budget
 * @property {{run: string, block: Promise<string | undefined>}} [recall] of the run under way
 * @property {string} [appended] the assistant's last message that was handed over for what may be appended to it
 * @property {boolean} resetSeen the reset that a session_end will report was already told
 * @property {boolean} hasBegun the sidecar was asked for the session since this process started
 * @property {Set<string>} [calls] writes that were looked at before they were done
 * @property {string} [parentSession] the session that started this one as a sub-agent
 * @property {boolean} isEnded nothing was said since the session's end was told
 */

/** @typedef {ReturnType<typeof createRuntime>} Runtime */

/**
 * The runtime of this configuration: the same one for every copy of the plugin in the process.
 *
 * @param {HostApi} api
 * @param {Config} config
 * @returns {Runtime}
 */
export function sharedRuntime(api, config) {
  const globals = /** @type {Record<symbol, Map<string, Runtime> | undefined>} */ (/** @type {unknown} */ (globalThis));
  const runtimes = (globals[SHARED] ??= new Map());
  const spoolDir = config.spoolDir || join(stateDir(api), PLUGIN_ID, "spool");
  const key = JSON.stringify([config, spoolDir]);
  const runtime = runtimes.get(key) ?? createRuntime(config, spoolDir);
  runtimes.delete(key);
  runtimes.set(key, runtime);
  evict(runtimes, MAX_RUNTIMES);
  if (api.logger) runtime.useLogger(api.logger);
  return runtime;
}

/**
 * @param {Config} config
 * @param {string} spoolDir
 */
export function createRuntime(config, spoolDir) {
  /** @type {Logger} */
  let logger = console;
  const currentLogger = () => logger;
  const client = createClient(config);
  const circuit = createCircuit({
    baseUrl: config.baseUrl,
    minMs: config.retryMinMs,
    maxMs: config.retryMaxMs,
    logger: currentLogger,
  });
  const spool = createSpool(spoolDir, { maxBytes: config.spoolMaxMb * 1024 * 1024, maxFiles: config.spoolMaxFiles });
  const incomplete = createIncomplete(join(spoolDir, "incomplete"));
  const courier = createCourier({ client, circuit, spool, incomplete, logger: currentLogger });
  /** @type {Map<string, SessionState>} */
  const sessions = new Map();
  /** @type {Map<string, true>} */
  const said = new Map();

  /** How scheduled jobs failed last, by their ids. @type {Map<string, string>} */
  const jobErrors = new Map();

  return {
    config,
    client,
    jobErrors,
    circuit,
    spool,
    courier,
    watchBackend: createBackendWatch({ baseUrl: config.baseUrl, logger: currentLogger }),
    logger: currentLogger,
    /** @param {Logger} next */
    useLogger(next) {
      logger = next;
    },
    /** Logs what would otherwise be said every turn. @param {string} message */
    warnOnce(message) {
      if (!said.has(message)) logger.warn(message);
      said.set(message, true);
      evict(said, MAX_SAID);
    },
    /** The state of a session, made when it is new; the least recently used ones are forgotten. @param {Scope} scope */
    session(scope) {
      const key = scope.sessionKey || scope.sessionId || "";
      const state = sessions.get(key) ?? { spentMs: 0, resetSeen: false, hasBegun: false, isEnded: false };
      if (scope.sessionId) state.sessionId = scope.sessionId;
      sessions.delete(key);
      sessions.set(key, state);
      evict(sessions, MAX_SESSIONS);
      return state;
    },
  };
}

/** Takes out the oldest entries of a map that has too many. @param {Map<string, unknown>} map oldest first @param {number} most */
export function evict(map, most) {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}

/** @param {HostApi} api */
function stateDir(api) {
  try {
    const dir = api.runtime?.state?.resolveStateDir?.();
    if (dir) return dir;
  } catch {
    // An older host: its own default below.
  }
  return process.env.OPENCLAW_STATE_DIR || join(homedir(), ".openclaw");
}
