// Terms in a full-text index: short codes that every query language reads as plain words.
import { visitTerms } from "./terms.ts";

/** A letter, then up to seven letters or digits; different for each salt. Two terms may share a code. */
export function codeOf(term: string, salt: number): string {
  let hash = Math.imul(0x811c9dc5 ^ (salt >>> 0), 0x01000193) ^ Math.floor(salt / 0x1_0000_0000);
  for (let at = 0; at < term.length; at += 1) {
    hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193);
  }
  // Without this, the last characters would hardly matter.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return `t${((hash ^ (hash >>> 15)) >>> 0).toString(36)}`;
}

/** The codes of a text, each once, in groups of at most `codesMax`: an index row has limited room. */
export function codesOf(
  text: string,
  salt: number,
  codesMax: number,
): readonly (readonly string[])[] {
  const codes = new Set<string>();
  visitTerms(text, (term) => codes.add(codeOf(term, salt)));
  const all = [...codes];
  const parts: string[][] = [];
  for (let at = 0; at === 0 || at < all.length; at += codesMax) {
    parts.push(all.slice(at, at + codesMax));
  }
  return parts;
}
