// Reads a query. Any text is valid, and nothing in it is an operator.
import { termsOf } from "./terms.ts";

export interface ReadQuery {
  /** Each term once. If there are too many, the longest, which are the most specific. */
  readonly terms: readonly string[];
  /** The whole query, if it is short enough to occur verbatim. Otherwise null. */
  readonly phrase: string | null;
}

/** Text beyond this is ignored. */
const charactersMax = 20_000;
const termsMax = 200;
const phraseCharactersMax = 200;

export function readQuery(text: string): ReadQuery {
  const asked = text.slice(0, charactersMax).trim();
  const terms = termsOf(asked);
  const isPhrase = terms.size > 0 && asked.length <= phraseCharactersMax;
  return {
    terms: [...terms].toSorted((a, b) => b.length - a.length).slice(0, termsMax),
    phrase: isPhrase ? asked : null,
  };
}
