// Recognises and reads requests of the Responses API from any client.
import * as json from "../../../message/json-tree.ts";
import { hasMember, memberOf, textOf, type JsonObject } from "../../../message/json-tree.ts";
import type { ForeignReader } from "../../foreign/foreign-reader.ts";
import { cacheSettings, markerNames, markWords } from "../cache.ts";
import type { BlockKind, PromptRole } from "../../../assembly/prompt-block.ts";
import type { Block, JsonText } from "../../../message/message.ts";
import { StrataError } from "../../../strata-error.ts";
import type { Lifetime } from "../../../message/usage.ts";
import type { BlockDraft } from "../../foreign/foreign-request.ts";
import {
  readByElements,
  type GrowingReader,
  type ReadFrame,
} from "../../foreign/growing-reader.ts";
import { namesIn, ownLifetimeOf, readOpenAiOptions } from "../foreign-options.ts";
import { countedResult, readParts, readTools } from "../foreign-parts.ts";

interface ResponsesFrame extends ReadFrame {
  readonly root: json.JsonObject;
  readonly lifetime: Lifetime;
}

/** Whether only items that open a conversation stand before. */
interface Leading {
  readonly isLeading: boolean;
}

const growing: GrowingReader<ResponsesFrame, Leading> = {
  member: "input",
  elementsOf: inputOf,
  readFrame: (root) => {
    const lifetime = ownLifetimeOf(root) ?? "30m";
    const instructions = readParts(json.memberOf(root, "instructions"), {
      path: "instructions",
      section: "instructions",
      tier: "T1",
      role: "system",
      head: "",
      lifetime,
    }).map((draft) => ({ ...draft, mayCarryMarker: false }));
    const tools = readTools(json.listOf(root, "tools"), "tools");
    return { drafts: [...tools, ...instructions], forElements: lifetime, root, lifetime };
  },
  start: { isLeading: true },
  readElement: (item, index, { frame: { lifetime }, carried }) => {
    const isLeading = carried.isLeading && isInitial(item);
    const drafts = readItem(item, index, isLeading, lifetime);
    const usesFrame = drafts.some(({ markers }) => markers.length > 0);
    return { drafts, carried: { isLeading }, usesFrame, closes: false };
  },
  finish: ({ root }) => readOpenAiOptions(root, "responses"),
};

export const foreign: ForeignReader = {
  needs: "input",
  isSentTo: ({ path }) => /\/responses\b/.test(path ?? ""),
  fits,
  hasSigns: (body) => hasMember(body, "input"),
  usualModels: null,
  otherNames: /openai/,
  modelOf: ({ body }) => textOf(body, "model") ?? "",
  outputLimits: ["max_output_tokens"],
  namesIn,
  read: (body, model) => readByElements(growing, body, model),
  growing,
  cacheDefaults: { mode: "implicit", lifetime: "30m" },
  showsThinking: false,
  marking: {
    names: markerNames,
    settings: cacheSettings,
    takesSlot: [],
    // A text is one message of the user.
    open: (body) =>
      typeof body["input"] === "string"
        ? { ...body, input: [{ role: "user", content: body["input"] }] }
        : body,
    toPart: (text) => ({ type: "input_text", text }),
    words: (plan, model) =>
      markWords(plan, model, { lifetimes: ["30m", "12h"], takesCacheKey: true }),
  },
  repairing: {
    tools: "tools",
    toolName: ["name"],
    toolSchema: ["parameters"],
    toElement: (text) => `{"role":"developer","content":${text}}`,
  },
};

/** A conversation that the provider stores may replace the input. A response has instructions, too, but also an output. */
function fits(body: JsonObject): boolean {
  if (memberOf(body, "messages")?.kind === "list") return false;
  if (hasMember(body, "input")) return true;
  return keptMembers.some((member) => hasMember(body, member)) && !hasMember(body, "output");
}

const keptMembers: readonly string[] = ["instructions", "previous_response_id", "conversation"];

/** A text is one message of the user. */
function inputOf(root: json.JsonObject): readonly json.JsonNode[] {
  const input = json.memberOf(root, "input");
  if (input === undefined) return [];
  if (input.kind === "list") return input.items;
  if (input.kind === "string") return [input];
  throw new StrataError(
    "input-invalid",
    `"input" is ${input.kind === "object" ? "an object" : input.source}`,
    'give "input" as a string or a list of items',
  );
}

function isInitial(item: json.JsonNode): boolean {
  const role = json.textOf(item, "role");
  return (
    json.textOf(item, "type") === "additional_tools" || role === "developer" || role === "system"
  );
}

function readItem(
  item: json.JsonNode,
  index: number,
  isLeading: boolean,
  lifetime: Lifetime,
): readonly BlockDraft[] {
  const path = `input.${index}`;
  const type =
    json.textOf(item, "type") ?? (json.memberOf(item, "role") === undefined ? "" : "message");
  if (item.kind === "string" || type === "message") {
    return readMessage(item, index, isLeading, lifetime);
  }
  if (type === "additional_tools" && json.listOf(item, "tools").length > 0) {
    const tools = readTools(json.listOf(item, "tools"), `${path}.tools`);
    // Tools that come later are read where they stand, among the messages.
    return isLeading ? tools : tools.map((tool) => ({ ...tool, tier: "T3", role: "system" }));
  }
  if (type === "function_call_output" || type === "custom_tool_call_output") {
    return readParts(json.memberOf(item, "output"), {
      path: `${path}.output`,
      section: `tool result in item ${index}`,
      tier: "T3",
      role: "user",
      kind: "tool_result",
      head: json.textOf(item, "call_id") ?? "",
      lifetime,
    });
  }
  return [readOther(item, type, path)];
}

function readMessage(
  item: json.JsonNode,
  index: number,
  isLeading: boolean,
  lifetime: Lifetime,
): readonly BlockDraft[] {
  const named = json.textOf(item, "role") ?? "user";
  const role: PromptRole =
    named === "system" || named === "developer"
      ? "system"
      : named === "assistant"
        ? "assistant"
        : "user";
  return readParts(item.kind === "string" ? item : json.memberOf(item, "content"), {
    path: item.kind === "string" ? "input" : `input.${index}.content`,
    section: `${named} message ${index}`,
    tier: isLeading ? "T1" : "T3",
    role,
    head: json.textOf(item, "phase") ?? "",
    lifetime,
  });
}

function readOther(item: json.JsonNode, type: string, path: string): BlockDraft {
  const kind = kindOfItem(type);
  const counted = countedItem(item, kind, type);
  const name = json.textOf(item, "name") ?? type;
  return {
    path,
    section:
      kind === "tool_use"
        ? `use of ${name} in ${path}`
        : `${type === "" ? "item" : type} in ${path}`,
    tier: "T3",
    role: kind === "tool_result" ? "user" : "assistant",
    kind,
    text: otherText(item, type),
    endsMessage: true,
    mayCarryMarker: false,
    markers: [],
    ...(counted === undefined ? {} : { counted }),
  };
}

/** The type's ending says whether it is a tool call or a result. */
function kindOfItem(type: string): BlockKind {
  if (type.endsWith("_call")) return "tool_use";
  if (type.endsWith("_output")) return "tool_result";
  if (type === "reasoning") return "thinking";
  return type === "compaction" ? "compaction" : "other";
}

/** Undefined if the text is enough. */
function countedItem(item: json.JsonNode, kind: BlockKind, type: string): Block | undefined {
  const sealed = json.textOf(item, "encrypted_content") ?? "";
  if (kind === "thinking") return { type: "thinking", text: summaryOf(item), signature: sealed };
  if (kind === "compaction") return { type: "opaque", json: sealed };
  if (kind === "tool_use") {
    const input = json.textOf(item, "arguments") ?? json.textOf(item, "input");
    const inputJson = input ?? jsonOf(json.memberOf(item, "action"), "{}");
    return { type: "tool_use", id: "", name: json.textOf(item, "name") ?? type, inputJson };
  }
  if (kind !== "tool_result") return undefined;
  const output = json.textOf(item, "output") ?? jsonOf(json.memberOf(item, "output"), "");
  return countedResult([{ type: "text", text: output }]);
}

function jsonOf(node: json.JsonNode | undefined, absent: JsonText): JsonText {
  return node === undefined ? absent : json.compactJson(node);
}

const notShown: ReadonlySet<string> = new Set(["id", "status", "prompt_cache_breakpoint"]);
const referenceNotShown: ReadonlySet<string> = new Set(["status"]);

function otherText(item: json.JsonNode, type: string): string {
  if (type === "reasoning") return json.textOf(item, "encrypted_content") ?? summaryOf(item);
  // A reference is nothing but an id.
  return json.compactJson(
    item,
    type === "item_reference" || type === "" ? referenceNotShown : notShown,
  );
}

function summaryOf(item: json.JsonNode): string {
  return json
    .listOf(item, "summary")
    .map((part) => json.textOf(part, "text") ?? "")
    .join("\n");
}
