// Parses the body of POST /v1/responses and its sub-routes.
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import { invalid, missing, notSimulated, unsupportedParameter } from "../api-error.ts";
import { fields, find, findCount, type Place } from "./fields.ts";
import type { Item } from "./items.ts";
import { checkMarkers } from "./read-cache-options.ts";
import { readShared, type ReadRequest } from "./read-request.ts";
import { readInput } from "./read-responses-input.ts";
import type { ResponseStore } from "../stored-responses.ts";

export interface ReadResponses {
  readonly request: ReadRequest;
  /** The whole conversation, including items that are no longer rendered. */
  readonly conversation: readonly Item[];
}

export interface Known {
  readonly store: ResponseStore;
  readonly workspace: string;
}

export function readResponses(
  body: Place,
  endpoint: "responses" | "compact",
  known: Known,
): ReadResponses {
  const shared = readShared(body, endpoint);
  const { facts } = shared;
  refuseUnsimulated(body);
  checkSampling(body, shared);
  const conversation = readConversation(body, known);
  checkMarkers(conversation, facts);
  checkToolCalls(conversation);
  checkUpdates(conversation, facts);
  const request: ReadRequest = {
    ...shared,
    instructions: fields.findText(body, "instructions"),
    items: renderedItems(conversation, reasoningContext(body, facts)),
    outputTokensMax: outputLimit(body, facts),
  };
  return { request, conversation };
}

/** The conversation of an earlier response with its reply, then the new input. */
function readConversation(body: Place, { store, workspace }: Known): readonly Item[] {
  const previousId = fields.findText(body, "previous_response_id");
  const input = readInput(body, (id) => store.findItem(workspace, id));
  if (previousId === null) {
    if (find(body, "input") === null) throw missing("input");
    return input;
  }
  const previous = store.find(workspace, previousId)?.items ?? null;
  if (previous === null) {
    const message = `Previous response with id '${previousId}' not found.`;
    throw invalid(message, "previous_response_id", "previous_response_not_found");
  }
  return [...previous, ...input];
}

function refuseUnsimulated(body: Place): void {
  if (find(body, "context_management") !== null) {
    throw notSimulated("Compaction by 'context_management'", "context_management");
  }
  for (const key of ["conversation", "prompt", "moderation"]) {
    if (find(body, key) !== null) throw notSimulated(`'${key}'`, key);
  }
  if (fields.findFlag(body, "background") === true)
    throw notSimulated("'background'", "background");
}

function checkSampling(
  body: Place,
  { facts, settings }: Pick<ReadRequest, "facts" | "settings">,
): void {
  const temperature = fields.findNumber(body, "temperature");
  if (temperature === null || temperature === 1 || facts.capabilities.samplingControls) return;
  if (settings.effort !== "none") throw unsupportedParameter("temperature");
}

/** The wording is unverified; the documents say that only GPT-6 and later can change effort within a conversation. */
function checkUpdates(items: readonly Item[], facts: ModelFacts): void {
  const isUpdated = items.some(({ kind }) => kind === "configuration");
  if (isUpdated && !facts.capabilities.midConversationEffort) {
    const message = "Items of type 'configuration_update' are not supported with this model.";
    throw invalid(message, "input", "unsupported_value");
  }
}

type ReasoningContext = "current_turn" | "all_turns";

/** Models with breakpoints see all their reasoning, older ones only that of the current turn. */
function reasoningContext(body: Place, facts: ModelFacts): ReasoningContext {
  const reasoning = fields.findPlace(body, "reasoning");
  const choices = ["auto", "current_turn", "all_turns"] as const;
  const asked = reasoning === null ? null : fields.findOneOf(reasoning, "context", choices);
  if (asked !== null && asked !== "auto") return asked;
  return facts.cache.markers === null ? "current_turn" : "all_turns";
}

function renderedItems(items: readonly Item[], context: ReasoningContext): readonly Item[] {
  if (context === "all_turns") return items;
  const turn = items.findLastIndex((item) => item.kind === "message" && item.role === "user");
  return items.filter(({ kind }, index) => kind !== "reasoning" || index > turn);
}

const outputTokensMin = 16;

function outputLimit(body: Place, facts: ModelFacts): number | null {
  const limit = findCount(body, "max_output_tokens", outputTokensMin);
  const most = facts.outputTokensMax;
  if (limit !== null && most !== null && limit > most) {
    const message = `Invalid 'max_output_tokens': integer above maximum value. Expected a value <= ${most}, but got ${limit} instead.`;
    throw invalid(message, "max_output_tokens", "integer_above_max_value");
  }
  return limit;
}

/** Every tool use needs an output and every output a use; the error texts of the two APIs differ. */
function checkToolCalls(items: readonly Item[]): void {
  const made = new Set<string>();
  const answered = new Set<string>();
  for (const item of items) if (item.kind === "tool output") answered.add(item.callId);
  for (const item of items) {
    if (item.kind === "tool use") {
      made.add(item.callId);
      if (!answered.has(item.callId)) {
        const call = item.isCustom ? "custom tool call" : "function call";
        throw invalid(`No tool output found for ${call} ${item.callId}.`, "input", null);
      }
    }
    if (item.kind === "tool output" && !made.has(item.callId)) {
      const output = item.isCustom ? "custom tool call output" : "function call output";
      const message = `No tool call found for ${output} with call_id ${item.callId}.`;
      throw invalid(message, "input", null);
    }
  }
}
