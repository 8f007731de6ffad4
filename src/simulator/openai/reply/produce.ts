// The simulated model's output, counted and cut to the client's limit.
import type { Tokenizer } from "../../../core/models/model-facts.ts";
import type { PromptCounter } from "../../count-tokens.ts";
import type { Reply } from "../../prompt.ts";
import type { Generated } from "../../record-call.ts";
import { longestFit } from "../../reply-text.ts";
import type { ToolDefinition } from "../request/items.ts";

export interface Produced extends Generated {
  readonly parts: readonly ProducedPart[];
  readonly isCut: boolean;
}

export type ProducedPart = { readonly isWhole: boolean } & (
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string }
  | {
      readonly kind: "tool use";
      readonly name: string;
      readonly namespace: string | null;
      readonly isCustom: boolean;
      readonly input: string;
    }
);

export const nothingProduced: Produced = {
  parts: [],
  outputTokens: 0,
  thinkingTokens: 0,
  isCut: false,
};

export function toProduced(
  reply: Reply,
  tools: readonly ToolDefinition[],
  tokensMax: number,
  counter: PromptCounter,
  tokenizer: Tokenizer,
): Produced {
  const parts: ProducedPart[] = [];
  let outputTokens = 0;
  let thinkingTokens = 0;
  for (const part of reply.parts) {
    const head =
      part.kind === "tool use"
        ? counter.constant("toolUse", tokenizer) + counter.text(part.name, tokenizer)
        : 0;
    const left = tokensMax - outputTokens - head;
    if (left <= 0) return { parts, outputTokens, thinkingTokens, isCut: true };
    const whole = toPart(part, tools);
    const text = whole.kind === "tool use" ? whole.input : whole.text;
    const kept = longestFit(text, (some) => counter.text(some, tokenizer) <= left);
    const tokens = head + counter.text(kept, tokenizer);
    outputTokens += tokens;
    if (part.kind === "thinking") thinkingTokens += tokens;
    const isWhole = kept === text;
    parts.push(
      whole.kind === "tool use"
        ? { ...whole, input: kept, isWhole }
        : { ...whole, text: kept, isWhole },
    );
    if (!isWhole) return { parts, outputTokens, thinkingTokens, isCut: true };
  }
  return { parts, outputTokens, thinkingTokens, isCut: reply.stop === "output limit" };
}

function toPart(part: Reply["parts"][number], tools: readonly ToolDefinition[]): ProducedPart {
  if (part.kind !== "tool use") return { ...part, isWhole: true };
  const tool = tools.find(({ name }) => name === part.name);
  const isCustom = tool?.kind === "custom";
  const input = isCustom ? freeText(part.inputJson) : part.inputJson;
  const namespace = tool?.namespace ?? null;
  return { kind: "tool use", name: part.name, namespace, isCustom, input, isWhole: true };
}

/** The text of a JSON string; any other input is used as text. */
function freeText(inputJson: string): string {
  if (!inputJson.startsWith('"')) return inputJson;
  try {
    const value: unknown = JSON.parse(inputJson);
    return typeof value === "string" ? value : inputJson;
  } catch {
    return inputJson;
  }
}
