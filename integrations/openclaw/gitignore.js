// What .gitignore files leave out of a folder. Matching takes time in proportion to pattern times path, whatever they hold.

/** One line of a file. @typedef {{isNegated: boolean, isForFolders: boolean, parts: (Glob | null)[]}} Pattern null stands for `**` */
/** A part of a path: `null` is any run of characters, anything else says which single character. @typedef {(((sign: string) => boolean) | null)[]} Glob */

/**
 * The patterns of a .gitignore, in its order.
 *
 * @param {string} text
 * @returns {Pattern[]}
 */
export function patternsIn(text) {
  return text.split(/\r?\n/).flatMap((line) => {
    const pattern = patternOf(line);
    return pattern ? [pattern] : [];
  });
}

/**
 * Whether the patterns ignore a path below their folder; undefined where they say nothing of it.
 *
 * @param {Pattern[]} patterns
 * @param {string[]} parts of the path
 * @param {boolean} isFolder
 * @returns {boolean | undefined}
 */
export function ignoredBy(patterns, parts, isFolder) {
  const last = patterns.findLast((one) => (isFolder || !one.isForFolders) && matches(one.parts, parts, isAny, partMatches));
  return last && !last.isNegated;
}

/** @param {string} line @returns {Pattern | null} */
function patternOf(line) {
  let text = line.trimEnd();
  if (text.endsWith("\\")) text += " "; // an escaped space
  if (!text || text.startsWith("#")) return null;
  const isNegated = text.startsWith("!");
  if (isNegated) text = text.slice(1);
  const isForFolders = text.endsWith("/");
  if (isForFolders) text = text.slice(0, -1);
  const isAnchored = text.includes("/");
  const names = text.split("/").filter(Boolean);
  if (!names.length) return null;
  /** @type {Pattern["parts"]} */
  const parts = names.map((name) => (name === "**" ? null : globOf(name)));
  if (!isAnchored) parts.unshift(null);
  if (parts.at(-1) === null) parts.push([null]); // what is inside, and not the folder itself
  return { isNegated, isForFolders, parts };
}

/** @param {string} text @returns {Glob} */
function globOf(text) {
  /** @type {Glob} */
  const glob = [];
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    const end = sign === "[" ? text.indexOf("]", at + (/[!^]/.test(text.charAt(at + 1)) ? 3 : 2)) : -1;
    if (sign === "*") {
      if (glob.at(-1) !== null) glob.push(null);
    } else if (sign === "?") {
      glob.push(() => true);
    } else if (sign === "[") {
      glob.push(end > 0 ? classOf(text.slice(at + 1, end)) : () => false); // git: one that is not closed matches nothing
      at = end > 0 ? end : text.length;
    } else {
      const literal = sign === "\\" && at + 1 < text.length ? text.charAt(++at) : sign;
      glob.push((other) => other === literal);
    }
  }
  return glob;
}

/** `[a-z]`, `[!abc]`. @param {string} text */
function classOf(text) {
  const isNegated = /^[!^]/.test(text);
  const signs = isNegated ? text.slice(1) : text;
  return (/** @type {string} */ sign) => {
    for (let at = 0; at < signs.length; at++) {
      const isRange = signs.charAt(at + 1) === "-" && at + 2 < signs.length;
      const last = isRange ? signs.charAt(at + 2) : signs.charAt(at);
      if (sign >= signs.charAt(at) && sign <= last) return !isNegated;
      if (isRange) at += 2;
    }
    return isNegated;
  };
}

/** @param {unknown} one */
function isAny(one) {
  return one === null;
}

/** @param {Glob | null} glob @param {string} name */
function partMatches(glob, name) {
  return glob !== null && matches(glob, [...name], isAny, (one, sign) => one !== null && one(sign));
}

/**
 * Whether a pattern, some of whose items stand for any run, matches all of a list. It goes back to the last of those only.
 *
 * @template P, I
 * @param {P[]} pattern
 * @param {I[]} list
 * @param {(one: P) => boolean} isRun
 * @param {(one: P, item: I) => boolean} isMatch
 */
function matches(pattern, list, isRun, isMatch) {
  let at = 0;
  let run = -1;
  let from = 0;
  for (let item = 0; item < list.length; ) {
    if (at < pattern.length && isRun(/** @type {P} */ (pattern[at]))) {
      run = at++;
      from = item;
    } else if (at < pattern.length && isMatch(/** @type {P} */ (pattern[at]), /** @type {I} */ (list[item]))) {
      at++;
      item++;
    } else if (run >= 0) {
      at = run + 1;
      item = ++from;
    } else {
      return false;
    }
  }
  return pattern.slice(at).every(isRun);
}
