// What is asked for: anything may be asked, and nothing in it is an operator.
import { termsOf } from "./terms.ts";

export interface ReadQuery {
  /** Each once; of very many the longest, which tell most. */
  readonly terms: readonly string[];
  /** All of it, where it is short enough to stand somewhere word by word; else null. */
  readonly phrase: string | null;
}

/** The rest of a longer query is not looked at. */
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
