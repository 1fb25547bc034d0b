// The plugin's settings. The host has checked them against the schema of openclaw.plugin.json; a value that is
// missing or of the wrong kind all the same gets its default, because a plugin that does not start helps nobody.
import { readFileSync } from "node:fs";

/** @import { Config } from "./types.d.ts" */

const manifest = JSON.parse(readFileSync(new URL("./openclaw.plugin.json", import.meta.url), "utf8"));

/** The plugin's id, which is also the id of its context engine. @type {string} */
export const PLUGIN_ID = manifest.id;
/** @type {string} */
export const PLUGIN_NAME = manifest.name;
/** @type {string} */
export const PLUGIN_VERSION = manifest.version;

/**
 * The settings with the defaults of the manifest's schema; texts default to "".
 *
 * @param {unknown} given
 * @returns {Config}
 */
export function readConfig(given) {
  const values = /** @type {Record<string, unknown>} */ (given && typeof given === "object" ? given : {});
  /** @type {Record<string, unknown>} */
  const config = {};
  for (const [name, schema] of Object.entries(manifest.configSchema.properties)) {
    config[name] = isValid(values[name], schema) ? values[name] : (schema.default ?? "");
  }
  config.baseUrl = String(config.baseUrl).replace(/\/+$/, "");
  return /** @type {Config} */ (/** @type {unknown} */ (config));
}

/**
 * @param {unknown} value
 * @param {any} schema
 */
function isValid(value, schema) {
  if (schema.type === "boolean") return typeof value === "boolean";
  if (schema.type === "integer") {
    return Number.isInteger(value) && Number(value) >= schema.minimum && Number(value) <= schema.maximum;
  }
  return typeof value === "string" && (!schema.pattern || new RegExp(schema.pattern).test(value));
}
