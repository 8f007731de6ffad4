// What a call may use at most, before anybody knows: it is reserved while the call is open.
import { noUsage } from "../../core/message/usage.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findTotal } from "../../core/models/cost.ts";
import { factsOf } from "../observe/rewriting.ts";
import type { AskedCall } from "./read-asked.ts";

export interface Estimate {
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Null for a model without a known price. */
  readonly picoUsd: bigint | null;
}

/** What an answer without a limit of its client counts as until it has ended. */
const usualOutputTokens = 4096;
/** Bytes per token of JSON in most languages. A picture has far more, so the window is the limit. */
const bytesPerToken = 4;

export function estimateCall(
  { model, outputTokensMax, bodyBytes }: AskedCall,
  upstream: string,
  { catalogue, nowMs }: { readonly catalogue: Catalogue; readonly nowMs: number },
): Estimate {
  const facts = factsOf(model, upstream, catalogue);
  const promptTokens = guessPromptTokens(bodyBytes, facts);
  const asked = outputTokensMax ?? usualOutputTokens;
  const outputTokens = Math.min(asked, facts?.outputTokensMax ?? asked);
  if (facts === null) return { promptTokens, outputTokens, picoUsd: null };
  const usage = { ...noUsage, uncachedTokens: promptTokens, outputTokens };
  return { promptTokens, outputTokens, picoUsd: findTotal(usage, facts, { at: nowMs }) };
}

export function guessPromptTokens(bodyBytes: number, facts: ModelFacts | null): number {
  const guessed = Math.ceil(bodyBytes / bytesPerToken);
  return Math.min(guessed, facts?.inputTokensMax ?? guessed);
}
