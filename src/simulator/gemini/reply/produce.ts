// The simulated model's output, counted and cut to the client's limit.
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import type { PromptCounter } from "../../count-tokens.ts";
import { compactJson, JsonFault, readJson } from "../../json-source.ts";
import type { Reply } from "../../prompt.ts";
import type { Generated } from "../../record-call.ts";
import { longestFit } from "../../reply-text.ts";

export interface Produced extends Generated {
  readonly parts: readonly ProducedPart[];
  readonly finishReason: "STOP" | "MAX_TOKENS" | "MALFORMED_FUNCTION_CALL";
}

export type ProducedPart =
  | { readonly kind: "text"; readonly text: string; readonly tokens: number }
  | { readonly kind: "thinking"; readonly text: string; readonly tokens: number }
  | {
      readonly kind: "call";
      readonly name: string;
      readonly argsJson: string;
      readonly tokens: number;
    };

/** A call that does not fit, or whose arguments are no object, is not sent: its tokens count all the same. */
export function toProduced(
  reply: Reply,
  tokensMax: number,
  counter: PromptCounter,
  { tokenizer }: ModelFacts,
): Produced {
  const parts: ProducedPart[] = [];
  let outputTokens = 0;
  let thinkingTokens = 0;
  const end = (finishReason: Produced["finishReason"]): Produced => ({
    parts,
    outputTokens,
    thinkingTokens,
    finishReason,
  });
  for (const part of reply.parts) {
    const left = tokensMax - outputTokens;
    if (left <= 0) return end("MAX_TOKENS");
    if (part.kind === "tool use") {
      const { name, inputJson } = part;
      const head = counter.constant("toolUse", tokenizer) + counter.text(name, tokenizer);
      const tokens = head + counter.text(inputJson, tokenizer);
      outputTokens += Math.min(tokens, left);
      if (tokens > left) return end("MAX_TOKENS");
      const argsJson = readArgs(inputJson);
      if (argsJson === null) return end("MALFORMED_FUNCTION_CALL");
      parts.push({ kind: "call", name, argsJson, tokens });
      continue;
    }
    const kept = longestFit(part.text, (some) => counter.text(some, tokenizer) <= left);
    const tokens = counter.text(kept, tokenizer);
    outputTokens += tokens;
    if (part.kind === "thinking") thinkingTokens += tokens;
    parts.push({ kind: part.kind, text: kept, tokens });
    if (kept !== part.text) return end("MAX_TOKENS");
  }
  return end(reply.stop === "output limit" ? "MAX_TOKENS" : "STOP");
}

/** The spelling of numbers and the order of keys are kept. Null if it is no object. */
function readArgs(inputJson: string): string | null {
  try {
    const json = readJson(inputJson, "kept");
    return json.kind === "object" ? compactJson(json) : null;
  } catch (error) {
    if (error instanceof JsonFault) return null;
    throw error;
  }
}
