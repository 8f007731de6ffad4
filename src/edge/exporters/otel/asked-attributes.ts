// What a client asked for, under OpenTelemetry's names. None of it is content.
import type { Attributes } from "@opentelemetry/api";
import type { AskedSettings } from "../../../core/wire/foreign/asked-settings.ts";
import { genAi } from "./gen-ai-names.ts";

export function toAskedAttributes(asked: AskedSettings): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(asked)) {
    const attribute = names[name];
    // One choice is what everybody asks for.
    if (attribute === undefined || (name === "choiceCount" && value === 1)) continue;
    attributes[attribute] = value;
  }
  return attributes;
}

const byName: Readonly<Record<keyof AskedSettings, string>> = {
  isStreamed: genAi.isStreamed,
  tokensMax: "gen_ai.request.max_tokens",
  temperature: "gen_ai.request.temperature",
  topP: "gen_ai.request.top_p",
  topK: "gen_ai.request.top_k",
  choiceCount: "gen_ai.request.choice.count",
  seed: "gen_ai.request.seed",
  frequencyPenalty: "gen_ai.request.frequency_penalty",
  presencePenalty: "gen_ai.request.presence_penalty",
  reasoningLevel: "gen_ai.request.reasoning.level",
  previousResponseId: "gen_ai.request.previous_response.id",
};

const names: Readonly<Record<string, string | undefined>> = byName;
