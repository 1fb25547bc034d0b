// Host messages on their way to the sidecar and back: images stay here, because their bytes mean nothing to it.

/** @import { Message } from "./types.d.ts" */

/** Shorter data may as well travel. */
const MIN_IMAGE_CHARS = 1_024;
const CHARS_PER_TOKEN = 4;
const IMAGE_TOKENS = 1_200;
const MESSAGE_TOKENS = 4;
const WIDE = /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/g;

/**
 * The messages with the data of their images replaced by a short mark, and the way back: what `restore` is given
 * may be any selection of them, in any order. Nothing is changed in place.
 *
 * @param {Message[]} messages
 */
export function withoutImages(messages) {
  /** @type {Map<string, string>} */
  const kept = new Map();

  /** @param {string} data */
  const mark = (data) => {
    const name = `[image ${kept.size} kept by the host]`;
    kept.set(name, data);
    return name;
  };
  return {
    messages: messages.map((message) => mapImages(message, (data) => (data.length < MIN_IMAGE_CHARS ? data : mark(data)))),
    /** @param {Message[]} answered @returns {Message[]} */
    restore: (answered) =>
      kept.size ? answered.map((message) => mapImages(message, (data) => kept.get(data) ?? data)) : answered,
  };
}

/**
 * @param {Message} message
 * @param {(data: string) => string} change
 * @returns {Message}
 */
function mapImages(message, change) {
  if (!Array.isArray(message?.content) || !message.content.some((block) => imageData(block))) return message;
  return { ...message, content: message.content.map((block) => mapImage(block, change)) };
}

/** @param {any} block @param {(data: string) => string} change */
function mapImage(block, change) {
  const found = imageData(block);
  if (!found) return block;
  if (found.at === "data") return { ...block, data: change(found.data) };
  if (found.at === "source") return { ...block, source: { ...block.source, data: change(found.data) } };
  return { ...block, image_url: { ...block.image_url, url: change(found.data) } };
}

/**
 * Where a block holds an image: OpenClaw's and MCP's `data`, Anthropic's `source.data`, OpenAI's `image_url.url`.
 *
 * @param {any} block
 */
function imageData(block) {
  if (!block || typeof block !== "object") return null;
  if (block.type === "image" && typeof block.data === "string") return { at: "data", data: block.data };
  if (block.type === "image" && typeof block.source?.data === "string") return { at: "source", data: block.source.data };
  if (block.type === "image_url" && typeof block.image_url?.url === "string") {
    return { at: "image_url", data: block.image_url.url };
  }
  return null;
}

/**
 * A rough count of tokens, for the host's bookkeeping when the sidecar did not count: a token per four characters, one
 * per Chinese, Japanese or Korean character. Linear in the text.
 *
 * @param {Message[]} messages
 */
export function estimateTokens(messages) {
  return messages.reduce((sum, message) => sum + MESSAGE_TOKENS + tokensIn(message?.content ?? message?.summary), 0);
}

/** @param {unknown} value @returns {number} */
function tokensIn(value) {
  if (typeof value === "string") return textTokens(value);
  if (imageData(value)) return IMAGE_TOKENS;
  if (Array.isArray(value)) return value.reduce((sum, item) => sum + tokensIn(item), 0);
  if (value && typeof value === "object") {
    return Object.entries(value).reduce((sum, [key, item]) => sum + (key.endsWith("Signature") ? 0 : tokensIn(item)), 0);
  }
  return 1;
}

/** @param {string} text */
function textTokens(text) {
  const wide = text.match(WIDE)?.length ?? 0;
  return wide + Math.ceil((text.length - wide) / CHARS_PER_TOKEN);
}

/**
 * The end of the history that can matter to a recall: the last messages, within a number of messages and of characters.
 *
 * @param {unknown} messages
 * @param {{most?: number, chars?: number}} [bounds]
 * @returns {Message[]}
 */
export function tail(messages, { most = 60, chars = 200_000 } = {}) {
  if (!Array.isArray(messages)) return [];
  /** @type {Message[]} */
  const kept = [];
  let left = chars;
  for (const message of messages.slice(-most).reverse()) {
    if (!isMessage(message)) continue;
    left -= estimateTokens([message]) * CHARS_PER_TOKEN;
    if (left < 0) break;
    kept.push(message);
  }
  return kept.reverse();
}

/** @param {unknown} value @returns {value is Message} */
export function isMessage(value) {
  return Boolean(value) && typeof value === "object" && typeof (/** @type {any} */ (value).role) === "string";
}

/** A value as JSON; null when it has none. @param {unknown} value @returns {string | null} */
export function toJson(value) {
  try {
    return JSON.stringify(value, (_key, item) => (typeof item === "bigint" ? String(item) : item)) ?? null;
  } catch {
    return null;
  }
}
