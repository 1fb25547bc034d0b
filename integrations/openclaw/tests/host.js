// A host in small: registers a copy of the plugin as OpenClaw does and calls what it registered.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

let copies = 0;

/** A directory that is gone after the test. @param {import("node:test").TestContext} t */
export function freshDir(t) {
  const dir = mkdtempSync(join(tmpdir(), "openviking-sidecar-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/**
 * Loads one more copy of the plugin, modules of its own and all but what the copies share on purpose.
 *
 * @param {Record<string, unknown>} pluginConfig
 * @param {object} [runtime] what the host offers
 * @returns {Promise<{engine: () => any, after: (event: any, context: any) => Promise<any>, fire: (hook: string, event: any, context: any) => Promise<any>, log: string[], tool: (name: string, params: object, context?: object) => Promise<any>, toolNames: () => string[], command: (name: string, args?: string, context?: object) => Promise<string>}>}
 */
export async function loadPlugin(pluginConfig, runtime) {
  const plugin = (await import(`../index.js?copy=${++copies}`)).default;
  /** @type {Map<string, Function>} */
  const hooks = new Map();
  /** @type {Map<string, Function>} */
  const tools = new Map();
  /** @type {Map<string, any>} */
  const commands = new Map();
  /** @type {string[]} */
  const log = [];
  /** @type {() => any} */
  let engine = () => assertNever();
  /** @type {((event: any, context: any) => any) | undefined} */
  let middleware;
  const say = (/** @type {string} */ level) => (/** @type {string} */ message) => void log.push(`${level} ${message}`);
  plugin.register({
    pluginConfig,
    runtime,
    logger: { info: say("info"), warn: say("warn"), error: say("error") },
    registerContextEngine: (/** @type {string} */ _id, /** @type {() => any} */ factory) => (engine = factory),
    registerTool: (/** @type {Function} */ factory, /** @type {{name: string}} */ { name }) => tools.set(name, factory),
    registerCommand: (/** @type {{name: string}} */ command) => commands.set(command.name, command),
    registerAgentToolResultMiddleware: (/** @type {(event: any, context: any) => any} */ handler) => (middleware = handler),
    on: (/** @type {string} */ hook, /** @type {Function} */ handler) => hooks.set(hook, handler),
  });
  return {
    engine: () => engine(),
    after: async (event, context) => middleware?.(event, context),
    fire: async (hook, event, context) => hooks.get(hook)?.(event, context),
    log,
    tool: async (name, params, context = sessionParams("tools")) => tools.get(name)?.(context).execute("call_1", params),
    command: async (name, args, context = {}) => (await commands.get(name)?.handler({ ...sessionParams("commands"), args, ...context }))?.text,
    toolNames: () => [...tools.keys()],
  };
}

function assertNever() {
  throw new Error("the plugin registered no engine");
}

/** What an engine call of this session carries. @param {string} name */
export function sessionParams(name) {
  return { sessionId: `id-${name}`, sessionKey: `agent:main:${name}` };
}

/** A turn as the host commits it. @param {string} name @param {number} n @param {Record<string, unknown>} [more] */
export function turn(name, n, more = {}) {
  const messages = [
    { role: "user", content: `question ${n}\nsecond line`, timestamp: 1000 + n },
    { role: "assistant", content: [{ type: "text", text: `answer ${n}` }], timestamp: 1001 + n },
  ];
  return { ...sessionParams(name), advancementKey: `${name}-${n}`, messages, runtimeContext: { tokenBudget: 9000 }, ...more };
}

/** Letters in a spool directory. @param {string} dir */
export function lettersIn(dir) {
  try {
    return readdirSync(dir).filter((name) => /^\d.*\.json$/.test(name)).sort();
  } catch {
    return [];
  }
}

/**
 * A full disk, until the function that it returns is called: files can be made, but nothing longer than `room` be written.
 *
 * @param {import("node:test").TestContext} t
 * @param {number} [room] characters
 */
export async function fillDisk(t, room = 0) {
  const file = await open(tmpdir());
  const handle = Object.getPrototypeOf(file);
  await file.close();
  const write = handle.writeFile;
  const full = t.mock.method(handle, "writeFile", /** @this {any} */ async function (/** @type {string} */ text) {
    if (text.length > room) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    return write.call(this, text);
  });
  return () => full.mock.restore();
}

/** Waits for something that the background does. @param {() => unknown} condition @param {string} what */
export async function eventually(condition, what) {
  const end = performance.now() + 10_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`it never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
