// Call options → settings of the body, and the options that the model does not take.
import { parseFields } from "../../message/fields.ts";
import { escapeLoneSurrogates, memberTexts } from "../../message/json-text.ts";
import { objectText } from "../../message/json-tree.ts";
import type { JsonText } from "../../message/message.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import type { EncodeNote } from "../encoded-request.ts";
import type { CallOptions } from "../protocol.ts";

export interface EncodedOptions {
  /** In the order they are written. */
  readonly members: ReadonlyMap<string, JsonText>;
  readonly notes: readonly EncodeNote[];
}

/** `hasTools`: whether this body has tools; a prefix that the provider keeps has its own, and their settings. */
export function encodeOptions(
  options: CallOptions,
  { capabilities: can }: Pick<ModelFacts, "capabilities">,
  hasTools: boolean,
): EncodedOptions {
  const notes: EncodeNote[] = [];
  const ignore = (detail: string): void => {
    notes.push({ kind: "option-ignored", detail });
  };
  const { extraJson = {} } = options;
  const members = new Map<string, JsonText>();
  const choice = toolChoice(options.toolChoice);
  if (choice !== undefined && !hasTools) ignore("tool choice: the request has no tools");
  else if (choice !== undefined) members.set("toolConfig", choice);
  if (options.parallelToolUse === false) ignore("one tool at a time: Gemini has no such option");
  members.set("generationConfig", generationConfig(options, can, ignore));
  for (const [name, json] of Object.entries(extraJson)) {
    // The caller's own spelling of an option wins; the content is not an option.
    if (ownMembers.has(name)) ignore(`${name}: written from the call itself`);
    else if (name !== "generationConfig") members.set(name, json);
  }
  const written = [...members].map(([name, json]) => [name, escapeLoneSurrogates(json)] as const);
  return { members: new Map(written), notes };
}

const ownMembers: ReadonlySet<string> = new Set([
  "model",
  "tools",
  "systemInstruction",
  "system_instruction",
  "contents",
  "cachedContent",
  "cached_content",
]);

function generationConfig(
  options: CallOptions,
  can: ModelFacts["capabilities"],
  ignore: (detail: string) => void,
): JsonText {
  const { temperature, stopSequences = [], outputSchemaJson, extraJson = {} } = options;
  const members = new Map<string, JsonText>([["maxOutputTokens", String(options.outputTokensMax)]]);
  if (temperature !== undefined) {
    if (can.samplingControls) members.set("temperature", String(temperature));
    else ignore("temperature: the model takes no sampling controls");
  }
  if (stopSequences.length > 0) members.set("stopSequences", JSON.stringify(stopSequences));
  const thinking = thinkingConfig(options, can, ignore);
  if (thinking !== undefined) members.set("thinkingConfig", thinking);
  if (outputSchemaJson !== undefined) {
    if (can.structuredOutput) {
      members.set("responseMimeType", '"application/json"');
      members.set("responseJsonSchema", outputSchemaJson);
    } else ignore("the output schema: the model follows none");
  }
  // Further members join ours; one of the same name replaces it.
  const own = extraJson["generationConfig"];
  if (own === undefined) return objectText(members);
  if (parseFields(own) === undefined) {
    ignore("generationConfig: it is not a JSON object");
    return objectText(members);
  }
  return objectText(new Map([...members, ...memberTexts(own)]));
}

/** The settings in the provider's own spelling; an effort is its thinking level, unless they name one. */
function thinkingConfig(
  { effort, thinkingJson }: CallOptions,
  can: ModelFacts["capabilities"],
  ignore: (detail: string) => void,
): JsonText | undefined {
  if (effort === undefined && thinkingJson === undefined) return undefined;
  if (!can.thinking) {
    ignore("thinking: the model does not think");
    return undefined;
  }
  const isObject = thinkingJson !== undefined && parseFields(thinkingJson) !== undefined;
  if (thinkingJson !== undefined && !isObject) ignore("thinking: it is not a JSON object");
  const members = isObject ? memberTexts(thinkingJson) : new Map<string, JsonText>();
  const isSet = members.has("thinkingLevel") || members.has("thinkingBudget");
  const level = effort === undefined ? undefined : levelOf.get(effort.toLowerCase());
  if (effort === undefined || isSet) return members.size === 0 ? undefined : objectText(members);
  if (can.budgetedThinking) ignore("effort: the model takes a thinkingBudget instead");
  else if (level === undefined)
    ignore(`effort ${JSON.stringify(effort)}: Gemini has no such level`);
  else members.set("thinkingLevel", level);
  return members.size === 0 ? undefined : objectText(members);
}

/** By the provider's SDK, checked 2026-11-18. */
const levelOf: ReadonlyMap<string, JsonText> = new Map([
  ["minimal", '"MINIMAL"'],
  ["low", '"LOW"'],
  ["medium", '"MEDIUM"'],
  ["high", '"HIGH"'],
]);

function toolChoice(choice: CallOptions["toolChoice"]): JsonText | undefined {
  if (choice === undefined) return undefined;
  const config =
    typeof choice === "object"
      ? `"mode":"ANY","allowedFunctionNames":[${JSON.stringify(choice.name)}]`
      : `"mode":"${choice.toUpperCase()}"`;
  return `{"functionCallingConfig":{${config}}}`;
}
