// Converts input items of the Responses API to items. Unknown items are kept as sent.
import { ApiError, missing, notSimulated, unknownParameter } from "../api-error.ts";
import { fields, find, pathOf, unfit, withoutKeys, type Place } from "./fields.ts";
import type { Item, Part, Role } from "./items.ts";
import { compactJson } from "../../json-source.ts";
import { readParts, type Spelling } from "./read-parts.ts";
import { readTools } from "./read-tools.ts";

export type FindItem = (id: string) => Item | null;

const inputParts: Spelling = {
  input_text: "text",
  input_image: "image",
  input_file: "file",
  input_audio: "audio",
  output_text: "model's text",
  refusal: "refusal",
};
const outputParts: Spelling = { output_text: "model's text", refusal: "refusal" };
const roles: readonly Role[] = ["assistant", "system", "developer", "user"];

/** A string is one user message. */
export function readInput(body: Place, findItem: FindItem): readonly Item[] {
  const input = find(body, "input");
  if (input === null) return [];
  if (input.kind === "string") {
    const part: Part = { kind: "text", text: input.text, marker: null };
    return [{ kind: "message", role: "user", label: "", parts: [part] }];
  }
  if (input.kind !== "list") {
    throw unfit(body, "input", "one of a string or array of input items", input);
  }
  return (fields.findPlaces(body, "input") ?? []).map((place) => readItem(place, findItem));
}

export function readItem(place: Place, findItem: FindItem): Item {
  const type = fields.findText(place, "type");
  if (type === null && find(place, "role") === null) {
    if (find(place, "id") === null) throw missing(pathOf(place, "type"));
    return referred(place, findItem);
  }
  switch (type) {
    case null:
    case "message":
      return readMessage(place);
    case "item_reference":
      return referred(place, findItem);
    case "function_call":
    case "custom_tool_call":
      return readToolUse(place, type === "custom_tool_call");
    case "function_call_output":
    case "custom_tool_call_output":
      return {
        kind: "tool output",
        callId: fields.textAt(place, "call_id"),
        parts: readParts(place, "output", inputParts),
        isCustom: type === "custom_tool_call_output",
      };
    case "additional_tools":
    case "tool_search_output":
      return readToolsItem(place);
    case "reasoning":
      return {
        kind: "reasoning",
        summary: (fields.findPlaces(place, "summary") ?? [])
          .map((part) => fields.findText(part, "text") ?? "")
          .join("\n"),
        sealed: fields.findText(place, "encrypted_content"),
      };
    case "compaction":
      return { kind: "compaction", sealed: fields.textAt(place, "encrypted_content") };
    case "compaction_trigger":
      throw notSimulated("A compaction_trigger item", pathOf(place, "type"));
    case "configuration_update":
      return {
        kind: "configuration",
        effort: effortOf(place),
        source: compactJson(withoutKeys(place.object, ["id"])),
      };
    default: {
      const unmarked = new Set(["prompt_cache_breakpoint"]);
      const source = compactJson(withoutKeys(place.object, ["id", "status"]), unmarked);
      return { kind: "other", type, source };
    }
  }
}

function readMessage(place: Place): Item {
  const role = fields.oneOfAt(place, "role", roles);
  if (find(place, "prompt_cache_breakpoint") !== null) {
    throw unknownParameter(pathOf(place, "prompt_cache_breakpoint"));
  }
  const spelling = role === "assistant" ? outputParts : inputParts;
  const label = fields.findText(place, "phase") ?? "";
  return { kind: "message", role, label, parts: readParts(place, "content", spelling) };
}

function readToolUse(place: Place, isCustom: boolean): Item {
  const namespace = fields.findText(place, "namespace");
  const name = fields.textAt(place, "name");
  return {
    kind: "tool use",
    callId: fields.textAt(place, "call_id"),
    name: namespace === null ? name : `${namespace}.${name}`,
    input: fields.textAt(place, isCustom ? "input" : "arguments"),
    isCustom,
  };
}

function readToolsItem(place: Place): Item {
  if (find(place, "prompt_cache_breakpoint") !== null) {
    throw unknownParameter(pathOf(place, "prompt_cache_breakpoint"));
  }
  const entries = readTools(place, "tools");
  const source = compactJson(withoutKeys(place.object, ["id", "status"]));
  return { kind: "tools", tools: entries.flatMap(({ tools }) => tools), source };
}

function effortOf(place: Place): string | null {
  const reasoning = fields.findPlace(place, "reasoning");
  return reasoning === null ? null : fields.findText(reasoning, "effort");
}

function referred(place: Place, findItem: FindItem): Item {
  const id = fields.textAt(place, "id");
  const item = findItem(id);
  if (item !== null) return item;
  const message = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
  throw new ApiError(404, { message, type: "invalid_request_error", param: "input", code: null });
}
