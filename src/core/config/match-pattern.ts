// Regular expressions of a configuration, matched in linear time: no pattern can freeze the process.
import { RE2JS } from "re2js";

const patternLengthMax = 500;

/** Counted repetitions such as `(a{30}){30}` become long programs, and each character takes that many steps. */
const programSizeMax = 2000;

/** Longer text is looked at only in its beginning. */
const wordsMax = 2000;

/** What a pattern must be, for an error message. */
export const patternRules: string = `text that is a regular expression of RE2, of at most ${patternLengthMax} characters: no lookahead, lookbehind or backreferences, and no huge repetitions`;

/** Null if it breaks the rules. */
function compile(pattern: string): RE2JS | null {
  if (pattern === "" || pattern.length > patternLengthMax) return null;
  try {
    const compiled = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
    return compiled.programSize() > programSizeMax ? null : compiled;
  } catch {
    return null;
  }
}

export function isPattern(text: string): boolean {
  return compile(text) !== null;
}

/** Ignores case. A text that is not a pattern matches nothing. */
export function matchesPattern(pattern: string, words: string): boolean {
  return compile(pattern)?.test(words.slice(0, wordsMax)) ?? false;
}
