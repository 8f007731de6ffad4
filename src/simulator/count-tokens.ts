// The simulator's token counter: deterministic, and the same for count requests and bills.
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Tokenizer } from "../core/models/model-facts.ts";
import { hashText } from "./ids.ts";
import rules from "./data/token-rules.json" with { type: "json" };

export interface PromptCounter {
  /** Tokens of text with a tokenizer of this generation. */
  text(text: string, tokenizer: Tokenizer): number;
  /** Tokens a provider adds per message, per tool use with its result, or per prompt. */
  constant(name: TokenConstant, tokenizer: Tokenizer): number;
  image(size: { readonly width: number; readonly height: number } | null): number;
  /** A thinking block that is sent back costs by the length of its signature. */
  signature(characters: number, tokenizer: Tokenizer): number;
}

/** Written out: a declaration file cannot import data. */
export type TokenConstant = "message" | "toolUse" | "toolResult" | "tool" | "reply";

/** Caches results by content, so that a long history is counted once. */
export function createPromptCounter(textsMax = 200_000): PromptCounter {
  const counts = new Map<string, number>();
  const base = (text: string): number => {
    const key = hashText(text);
    const known = counts.get(key);
    if (known !== undefined) return known;
    const tokens = countPieces(text);
    counts.set(key, tokens);
    if (counts.size > textsMax) {
      const [oldest] = counts.keys();
      if (oldest !== undefined) counts.delete(oldest);
    }
    return tokens;
  };
  return {
    text: (text, tokenizer) => {
      const tokens = base(text);
      return tokens === 0 ? 0 : Math.ceil(tokens * rules.generations[tokenizer].factor);
    },
    constant: (name, tokenizer) => rules.generations[tokenizer].constants[name],
    image: (size) =>
      size === null
        ? rules.image.unknownSizeTokens
        : Math.min(
            rules.image.tokensMax,
            Math.ceil((size.width * size.height) / rules.image.pixelsPerToken),
          ),
    signature: (characters, tokenizer) =>
      Math.ceil(characters * rules.generations[tokenizer].perSignatureCharacter),
  };
}

/** The library takes quadratic time on long runs without a break, so long text is cut first. */
const pieceMax = 64;
const anySpecialToken = { disallowedSpecial: new Set<string>() };

function countPieces(text: string): number {
  let tokens = 0;
  let start = 0;
  let runStart = 0;
  for (let at = 1; at <= text.length; at += 1) {
    const isBreak = at === text.length || isSpace(text, at) !== isSpace(text, at - 1);
    if (isBreak) runStart = at;
    const isLongRun = at - runStart >= pieceMax && !isLowSurrogate(text, at);
    const isEnough = isBreak && at - start >= 4096;
    if (at === text.length || isLongRun || isEnough) {
      tokens += countTokens(text.slice(start, at), anySpecialToken);
      start = at;
      runStart = at;
    }
  }
  return tokens;
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 32 || (code >= 9 && code <= 13);
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
