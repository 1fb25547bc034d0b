// OpenClaw's memory in the OpenViking sidecar: registration. What each part does stands at the top of its file.
import { registerCommands } from "./commands.js";
import { PLUGIN_ID, PLUGIN_NAME, readConfig } from "./config.js";
import { createEngine } from "./engine.js";
import { writeHook } from "./guidance.js";
import { noteJob, recallHook } from "./recall.js";
import { beforeReset, sessionEnd } from "./sessions.js";
import { skillMiddleware } from "./skills.js";
import { sharedRuntime } from "./state.js";
import { registerTools } from "./tools.js";

/** @import { HostApi } from "./types.d.ts" */

/** The host drops a prompt hook after 15 s; ours never needs its own time-out. */
const HOOK_GRACE_MS = 1_000;

/**
 * @param {HostApi} api
 */
function register(api) {
  const config = readConfig(api.pluginConfig);
  const runtime = () => sharedRuntime(api, config);

  /**
   * Subscribes; an error stays here.
   *
   * @param {string} hook
   * @param {(event: any, context: any) => unknown} handle
   * @param {Record<string, unknown>} [options]
   */
  const on = (hook, handle, options) =>
    api.on(
      hook,
      async (event, context) => {
        try {
          return await handle(event ?? {}, context ?? {});
        } catch (error) {
          runtime().logger().error(`${PLUGIN_ID}: ${hook} went wrong: ${error}`);
          return undefined;
        }
      },
      options,
    );

  api.registerContextEngine(PLUGIN_ID, () => createEngine(runtime()));
  if (config.tools) registerTools(api, runtime);
  if (config.commands) registerCommands(api, runtime);
  on("before_prompt_build", (event, context) => recallHook(runtime(), event, context), {
    timeoutMs: config.recallTimeoutMs + HOOK_GRACE_MS,
  });
  if (config.writePreflight) {
    on("before_tool_call", (event, context) => writeHook(runtime(), event, context), {
      timeoutMs: config.recallTimeoutMs + HOOK_GRACE_MS,
    });
  }
  // An older host has no such seam: there a skill is shown without its memory.
  if (config.skillMemory) {
    api.registerAgentToolResultMiddleware?.((event, context) => skillMiddleware(runtime(), event ?? {}, context ?? {}), {
      runtimes: ["openclaw"],
    });
  }
  on("cron_changed", (event) => noteJob(runtime(), event));
  on("before_reset", (_event, context) => beforeReset(runtime(), context));
  on("session_end", (event, context) => sessionEnd(runtime(), event, context));
  on("gateway_start", () => runtime().courier.start()); // what an earlier process left
}

export default { id: PLUGIN_ID, name: PLUGIN_NAME, kind: "context-engine", register };
