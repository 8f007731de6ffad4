// Call options → members of the body, and the options that the model does not take.
import { parseJsonTree, textOf } from "../../message/json-tree.ts";
import type { JsonText } from "../../message/message.ts";
import type { Lifetime } from "../../message/usage.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import { leftOutNote, type EncodeNote } from "../encoded-request.ts";
import type { CallOptions } from "../protocol.ts";
import { repairCharacters, repairOf } from "../repair-characters.ts";
import { markerJson } from "./schema.ts";

export interface EncodedOptions {
  /** In the order they are written. */
  readonly members: ReadonlyMap<string, JsonText>;
  readonly notes: readonly EncodeNote[];
}

export interface RequestSurroundings {
  readonly requestMarker: Lifetime | null;
  readonly hasTools: boolean;
  /** Members that are written besides those of every body. */
  readonly ownMembers?: readonly string[];
}

export function encodeOptions(
  options: CallOptions,
  { capabilities }: Pick<ModelFacts, "capabilities">,
  { requestMarker, hasTools, ownMembers = [] }: RequestSurroundings,
): EncodedOptions {
  const members = new Map<string, JsonText>();
  const notes: EncodeNote[] = [];
  const ignore = (detail: string): void => {
    notes.push({ kind: "option-ignored", detail });
  };
  const set = (name: string, json: JsonText | undefined): void => {
    if (json === undefined) return;
    const repaired = repairCharacters(json);
    if (repaired.count > 0) notes.push(leftOutNote(repairOf(name, repaired.count)));
    members.set(name, repaired.json);
  };

  const { temperature, stopSequences = [], outputSchemaJson, extraJson = {} } = options;
  if (requestMarker !== null) set("cache_control", markerJson(requestMarker));
  const thinking = takenThinking(
    extraJson["thinking"] ?? options.thinkingJson,
    options,
    capabilities,
  );
  if (thinking.ignored !== null) ignore(thinking.ignored);
  set("thinking", thinking.taken);
  const takesSchema = outputSchemaJson === undefined || capabilities.structuredOutput;
  if (!takesSchema) ignore("the output schema: the model follows none");
  set("output_config", outputConfig(options.effort, takesSchema ? outputSchemaJson : undefined));
  const takesTemperature = temperature === undefined || capabilities.samplingControls;
  if (!takesTemperature) ignore("temperature: the model takes no sampling controls");
  if (takesTemperature) set("temperature", JSON.stringify(temperature));
  if (stopSequences.length > 0) set("stop_sequences", JSON.stringify(stopSequences));
  const choice = takenChoice(options.toolChoice, capabilities.forcedToolChoice, hasTools);
  if (choice.ignored !== null) ignore(choice.ignored);
  if (hasTools) set("tool_choice", toolChoice(choice.taken, options.parallelToolUse));
  for (const [name, json] of Object.entries(extraJson)) {
    // The caller's own spelling of an option wins; the content is not an option.
    if (bodyMembers.includes(name) || ownMembers.includes(name))
      ignore(`${name}: written from the call itself`);
    else if (name !== "thinking") set(name, json);
  }
  return { members, notes };
}

const bodyMembers: readonly string[] = [
  "model",
  "max_tokens",
  "stream",
  "tools",
  "system",
  "messages",
];

function outputConfig(
  effort: string | undefined,
  schema: JsonText | undefined,
): JsonText | undefined {
  const parts: string[] = [];
  if (effort !== undefined) parts.push(`"effort":${JSON.stringify(effort)}`);
  if (schema !== undefined) parts.push(`"format":{"type":"json_schema","schema":${schema}}`);
  return parts.length === 0 ? undefined : `{${parts.join(",")}}`;
}

/** A kind of thinking that the model refuses is not sent; one with a budget becomes adaptive where the model takes that. */
export function takenThinking(
  json: JsonText | undefined,
  { effort, extraJson }: CallOptions,
  can: ModelFacts["capabilities"],
): { readonly taken: JsonText | undefined; readonly ignored: string | null } {
  const type = json === undefined ? undefined : textMember(json, "type");
  // What other models take is not in our facts.
  const isKnown = can.adaptiveThinking || can.budgetedThinking;
  if (type === undefined || !isKnown) return { taken: json, ignored: null };
  const asked = textMember(extraJson?.["output_config"] ?? "{}", "effort") ?? effort ?? "";
  const isAlwaysOn =
    can.thinkingAlwaysOn || (can.thinkingAtHighestEffort && highestEfforts.includes(asked));
  if (type === "disabled" && isAlwaysOn) {
    return { taken: undefined, ignored: "thinking off: the model always thinks here" };
  }
  if (type === "enabled" && !can.budgetedThinking) {
    const ignored = "a budget for thinking: the model decides itself how much it thinks";
    return { taken: '{"type":"adaptive"}', ignored };
  }
  const isRefused =
    (type === "adaptive" && !can.adaptiveThinking) ||
    (type === "between_tools" && !can.thinkingBetweenTools);
  if (!isRefused) return { taken: json, ignored: null };
  return { taken: undefined, ignored: `thinking ${type}: the model does not take it` };
}

const highestEfforts: readonly string[] = ["xhigh", "max"];

function textMember(json: JsonText, name: string): string | undefined {
  return textOf(parseJsonTree(json, "an option"), name);
}

type ToolChoice = CallOptions["toolChoice"];

/** Not every model can be forced to call a tool, and no model without tools. */
export function takenChoice(
  choice: ToolChoice,
  canForce: boolean,
  hasTools: boolean,
): { readonly taken: ToolChoice; readonly ignored: string | null } {
  const isForced = choice === "any" || typeof choice === "object";
  if (!isForced || (canForce && hasTools)) return { taken: choice, ignored: null };
  const reason = hasTools ? "the model cannot be made to call a tool" : "there are no tools";
  return { taken: undefined, ignored: `tool choice: ${reason}` };
}

function toolChoice(choice: ToolChoice, parallel: boolean | undefined): JsonText | undefined {
  if (choice === "none") return '{"type":"none"}';
  const isSingle = parallel === false;
  if (choice === undefined && !isSingle) return undefined;
  const kind =
    typeof choice === "object"
      ? `"type":"tool","name":${JSON.stringify(choice.name)}`
      : `"type":"${choice ?? "auto"}"`;
  return `{${kind}${isSingle ? ',"disable_parallel_tool_use":true' : ""}}`;
}
