// The words of servers for a prompt that is too long. Vendors speak others' protocols, and keep their own words.
import { toTokens, type ProviderFailure } from "./failure.ts";

/** Undefined for another reason. The counts are undefined where a server does not say them. */
export function findOverflow(
  detail: string,
): Extract<ProviderFailure, { readonly kind: "context-overflow" }> | undefined {
  if (!overflowTexts.some((text) => text.test(detail))) return undefined;
  return { kind: "context-overflow", detail, ...overflowTokens(detail) };
}

/** As error reports of 2025 and 2026 have them, from Anthropic, OpenAI, Bedrock, Gemini, the vendors and servers of one's own. */
const overflowTexts = [
  /prompt is too long/,
  /maximum context length is \d+ tokens/i,
  /exceeds the context window/i,
  /input is too long for requested model/i,
  /prompt too long/i,
  /context window exceeds limit/i,
  /exceeds the maximum number of tokens allowed/i,
  /maximum prompt length is \d+/i,
  /exceeded model token limit/i,
  /too large for model with \d+ maximum context length/i,
  /reduce the length of the messages/i,
  /range of input length should be/i,
  /exceeds the available context size/i,
  /greater than the context length/i,
];

const sent =
  /(?:prompt is too long:|resulted in|requested:?|requested about|input token count \(|prompt contains|request contains|request has)\s*(\d+)/i;
const most =
  /(?:maximum context length is |number of tokens allowed \(|maximum prompt length is |model token limit: |too large for model with |input length should be \[1, |prompt is too long: \d+ tokens > )\s*(\d+)/i;

export function overflowTokens(detail: string): {
  readonly tokens: number | undefined;
  readonly tokensMax: number | undefined;
} {
  return { tokens: numberIn(detail, sent), tokensMax: numberIn(detail, most) };
}

function numberIn(text: string, pattern: RegExp): number | undefined {
  return toTokens(pattern.exec(text)?.[1]);
}
