// What a client's request asks for besides its prompt, by whatever name its protocol has for it. For traces: nothing is
// decided by it, and no text of the prompt is in it.
import { memberOf, textOf, type JsonNode, type JsonObject } from "../../message/json-tree.ts";

/** What a client asked for, whatever its protocol calls it; absent if it does not say. */
export interface AskedSettings {
  readonly isStreamed?: boolean;
  readonly tokensMax?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly choiceCount?: number;
  readonly seed?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly reasoningLevel?: string;
  readonly previousResponseId?: string;
}

/** Some protocols put them below one of these members. */
const groups: readonly string[] = ["generationConfig", "generation_config", "inferenceConfig"];

type NumberSetting = Exclude<
  keyof AskedSettings,
  "isStreamed" | "reasoningLevel" | "previousResponseId"
>;

/** Names in the APIs of Anthropic, OpenAI, Google and Bedrock, 2026-11-16. The first one that is there counts. */
const numbers: Readonly<Record<NumberSetting, readonly string[]>> = {
  tokensMax: [
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "maxOutputTokens",
    "maxTokens",
  ],
  temperature: ["temperature"],
  topP: ["top_p", "topP"],
  topK: ["top_k", "topK"],
  choiceCount: ["n", "candidateCount"],
  seed: ["seed"],
  frequencyPenalty: ["frequency_penalty", "frequencyPenalty"],
  presencePenalty: ["presence_penalty", "presencePenalty"],
};

const numberSettings = Object.entries(numbers);

const textLengthMax = 200;

export function readAsked(body: JsonObject, path: string | null): AskedSettings {
  const places = [body, ...groups.flatMap((name) => objectsIn(memberOf(body, name)))];
  const find = (names: readonly string[]): JsonNode | undefined => {
    for (const place of places) {
      for (const name of names) {
        const member = memberOf(place, name);
        if (member !== undefined) return member;
      }
    }
    return undefined;
  };
  const found: Record<string, number> = {};
  for (const [setting, names] of numberSettings) {
    const member = find(names);
    const value = member?.kind === "scalar" ? Number.parseFloat(member.source) : Number.NaN;
    if (Number.isFinite(value)) found[setting] = value;
  }
  const reasoningLevel =
    textOf(memberOf(body, "reasoning"), "effort") ??
    textOf(body, "reasoning_effort") ??
    textOf(memberOf(body, "output_config"), "effort");
  const previousResponseId = textOf(body, "previous_response_id");
  const stream = memberOf(body, "stream");
  return {
    isStreamed:
      (stream?.kind === "scalar" && stream.source === "true") || /stream/i.test(path ?? ""),
    ...found,
    ...(isShort(reasoningLevel) ? { reasoningLevel } : {}),
    ...(isShort(previousResponseId) ? { previousResponseId } : {}),
  };
}

function objectsIn(node: JsonNode | undefined): readonly JsonObject[] {
  return node?.kind === "object" ? [node] : [];
}

function isShort(text: string | undefined): text is string {
  return text !== undefined && text !== "" && text.length <= textLengthMax;
}
