// Call options → members of a Converse body, and the options that the model does not take.
import { memberTexts } from "../../../message/json-text.ts";
import { objectText } from "../../../message/json-tree.ts";
import { parseFields } from "../../../message/fields.ts";
import type { JsonText } from "../../../message/message.ts";
import type { ModelFacts } from "../../../models/model-facts.ts";
import { takenChoice, takenThinking } from "../../anthropic-messages/options.ts";
import { leftOutNote, type EncodeNote } from "../../encoded-request.ts";
import type { CallOptions } from "../../protocol.ts";
import { repairCharacters, repairOf } from "../../repair-characters.ts";

export interface EncodedOptions {
  /** Undefined for the provider's default. */
  readonly toolChoice: JsonText | undefined;
  /** The other members, in the order they are written. */
  readonly members: ReadonlyMap<string, JsonText>;
  readonly notes: readonly EncodeNote[];
}

export interface RequestSurroundings {
  readonly hasTools: boolean;
  readonly betas: readonly string[];
}

export function encodeOptions(
  options: CallOptions,
  { capabilities }: Pick<ModelFacts, "capabilities">,
  { hasTools, betas }: RequestSurroundings,
): EncodedOptions {
  const notes: EncodeNote[] = [];
  const ignore = (detail: string): void => void notes.push({ kind: "option-ignored", detail });
  const { temperature, stopSequences = [], outputSchemaJson, effort, extraJson = {} } = options;
  const inference = new Map([["maxTokens", String(options.outputTokensMax)]]);
  if (temperature !== undefined) {
    if (capabilities.samplingControls) inference.set("temperature", JSON.stringify(temperature));
    else ignore("temperature: the model takes no sampling controls");
  }
  if (stopSequences.length > 0) inference.set("stopSequences", JSON.stringify(stopSequences));
  const output = new Map<string, JsonText>();
  if (effort !== undefined) output.set("effort", JSON.stringify(effort));
  if (outputSchemaJson !== undefined) {
    if (capabilities.structuredOutput) output.set("textFormat", textFormat(outputSchemaJson));
    else ignore("the output schema: the model follows none");
  }
  const own = new Map<string, JsonText>();
  const thinking = takenThinking(options.thinkingJson, options, capabilities);
  if (thinking.ignored !== null) ignore(thinking.ignored);
  if (thinking.taken !== undefined) own.set("thinking", thinking.taken);
  if (betas.length > 0) own.set("anthropic_beta", JSON.stringify(betas));
  const choice = takenChoice(options.toolChoice, capabilities.forcedToolChoice, hasTools);
  if (choice.ignored !== null) ignore(choice.ignored);
  const asked = hasTools ? chooseTools(choice.taken, options.parallelToolUse) : {};
  if (asked.own !== undefined) own.set("tool_choice", asked.own);
  const groups: readonly (readonly [string, ReadonlyMap<string, JsonText>])[] = [
    ["inferenceConfig", inference],
    ["additionalModelRequestFields", own],
    ["outputConfig", output],
  ];
  const members = new Map<string, JsonText>();
  for (const [name, group] of groups) {
    const joined = new Map([...group, ...membersIn(extraJson[name])]);
    if (joined.size > 0) members.set(name, objectText(joined));
  }
  for (const [name, json] of Object.entries(extraJson)) {
    if (bodyMembers.has(name)) ignore(`${name}: written from the call itself`);
    else if (!members.has(name)) members.set(name, json);
  }
  return { toolChoice: asked.toolChoice, ...repairAll(members, notes) };
}

const bodyMembers: ReadonlySet<string> = new Set(["modelId", "toolConfig", "system", "messages"]);

/** The members of a group that the caller adds to; his own win. */
function membersIn(json: JsonText = "{}"): Iterable<readonly [string, JsonText]> {
  return parseFields(json) === undefined ? [] : memberTexts(json);
}

function textFormat(schemaJson: JsonText): JsonText {
  const schema = `{"schema":${JSON.stringify(schemaJson)},"name":"reply"}`;
  return `{"type":"json_schema","structure":{"jsonSchema":${schema}}}`;
}

/**
 * Converse cannot forbid tools, and knows no limit to one at a time. Both go to the model's own API as its `tool_choice`, which then says
 * everything: the other member is left out (as in @ai-sdk/amazon-bedrock 5.0.101).
 */
function chooseTools(
  choice: CallOptions["toolChoice"],
  parallel: boolean | undefined,
): { readonly toolChoice?: JsonText; readonly own?: JsonText } {
  if (choice === "none") return { own: '{"type":"none"}' };
  const name = typeof choice === "object" ? JSON.stringify(choice.name) : undefined;
  if (parallel === false) {
    const kind =
      name === undefined ? `"type":"${choiceWord(choice)}"` : `"type":"tool","name":${name}`;
    return { own: `{${kind},"disable_parallel_tool_use":true}` };
  }
  if (choice === undefined) return {};
  const json = name === undefined ? `{"${choiceWord(choice)}":{}}` : `{"tool":{"name":${name}}}`;
  return { toolChoice: json };
}

function choiceWord(choice: CallOptions["toolChoice"]): "auto" | "any" {
  return choice === "any" ? "any" : "auto";
}

function repairAll(
  members: ReadonlyMap<string, JsonText>,
  before: readonly EncodeNote[],
): Pick<EncodedOptions, "members" | "notes"> {
  const notes = [...before];
  const repaired = new Map<string, JsonText>();
  for (const [name, json] of members) {
    const { json: text, count } = repairCharacters(json);
    if (count > 0) notes.push(leftOutNote(repairOf(name, count)));
    repaired.set(name, text);
  }
  return { members: repaired, notes };
}
