// Reads a streamed response event by event. Items are taken whole from the event that ends them.
import { growingList, itemsOf, type GrowingList } from "../../../growing/growing-list.ts";
import { growingMap, type GrowingMap } from "../../../growing/growing-map.ts";
import { escapeLoneSurrogates, memberTexts } from "../../../message/json-text.ts";
import type { Block, JsonText } from "../../../message/message.ts";
import { malformed, type ProviderFailure } from "../../failure.ts";
import { toInputJson } from "../arguments.ts";
import { failureIn } from "../failure.ts";
import { countIn, fieldsIn, parseFields, textIn, type Fields } from "../../../message/fields.ts";
import type { ServerEvent, StreamDecoder } from "../../protocol.ts";
import type { Reply, StreamPart } from "../../reply.ts";
import { outputTexts, responseFailure, toReply } from "./decode.ts";
import { toBlocks } from "./items.ts";
import { readItemFields, type Item } from "./schema.ts";

export interface ResponsesState {
  /** The response in the latest event that has one; null before the first. */
  readonly response: Fields | null;
  /** The exact text of the response that ended the stream. */
  readonly endJson: JsonText | null;
  readonly arrived: GrowingList<Arrived>;
  /** Ids of the calls that have begun, by their place in the output. */
  readonly callIds: GrowingMap<number, string>;
  readonly failure: ProviderFailure | null;
  /** Events that could not be read. */
  readonly unreadable: number;
}

/** What arrived for one item, by its place in the output. */
type Arrived = { readonly place: number } & (
  | { readonly kind: "begun"; readonly item: Item | null }
  | { readonly kind: "piece"; readonly text: string }
  | { readonly kind: "whole"; readonly json: JsonText }
);

export const responsesStream: StreamDecoder<ResponsesState> = {
  start: {
    response: null,
    endJson: null,
    arrived: growingList(),
    callIds: growingMap(),
    failure: null,
    unreadable: 0,
  },
  step: stepResponses,
  finish: finishResponses,
};

function stepResponses(
  state: ResponsesState,
  { event: name, data }: ServerEvent,
): readonly [ResponsesState, readonly StreamPart[]] {
  const event = parseFields(data);
  if (event === undefined) {
    const isEnd = data.trim() === "[DONE]";
    return [isEnd ? state : { ...state, unreadable: state.unreadable + 1 }, []];
  }
  const place = countIn(event, "output_index") ?? 0;
  const delta = textIn(event, "delta") ?? "";
  switch (textIn(event, "type") ?? name ?? "") {
    case "response.created":
    case "response.in_progress":
    case "response.queued":
      return [{ ...state, response: fieldsIn(event, "response") }, []];
    case "response.output_item.added":
      return begin(state, place, readItemFields(fieldsIn(event, "item")));
    case "response.output_text.delta":
    case "response.refusal.delta":
      return [grow(state, place, delta), [{ type: "text", text: delta }]];
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return [grow(state, place, delta), [{ type: "thinking", text: delta }]];
    case "response.function_call_arguments.delta": {
      const id = state.callIds.get(place) ?? "";
      return [grow(state, place, delta), [{ type: "tool-input", toolUseId: id, json: delta }]];
    }
    case "response.output_item.done": {
      const json = memberTexts(escapeLoneSurrogates(data)).get("item");
      return [json === undefined ? state : arrive(state, { kind: "whole", place, json }), []];
    }
    case "response.completed":
    case "response.incomplete":
    case "response.failed":
      return [end(state, event, data), []];
    case "error":
      return [{ ...state, failure: failureIn(event) ?? malformed(data) }, []];
    default:
      return [state, []];
  }
}

function begin(
  state: ResponsesState,
  place: number,
  item: Item | null,
): readonly [ResponsesState, readonly StreamPart[]] {
  const begun = arrive(state, { kind: "begun", place, item });
  if (item?.kind !== "call") return [begun, []];
  const { callId: id, name } = item;
  const callIds = state.callIds.set(place, id);
  return [{ ...begun, callIds }, [{ type: "tool", toolUseId: id, name }]];
}

function grow(state: ResponsesState, place: number, text: string): ResponsesState {
  return arrive(state, { kind: "piece", place, text });
}

function arrive(state: ResponsesState, what: Arrived): ResponsesState {
  return { ...state, arrived: state.arrived.append([what]) };
}

function end(state: ResponsesState, event: Fields, data: string): ResponsesState {
  const response = fieldsIn(event, "response");
  const endJson = memberTexts(escapeLoneSurrogates(data)).get("response") ?? null;
  return { ...state, response, endJson, failure: responseFailure(response) ?? state.failure };
}

function finishResponses(state: ResponsesState): Reply | ProviderFailure {
  const { response, endJson, arrived, failure, unreadable } = state;
  const items = [...groupItems(arrived)].toSorted(([left], [right]) => left - right);
  const outputs = items.map(([, item]) => item);
  if (outputs.length === 0) {
    if (failure !== null) return failure;
    if (response === null) return malformed("the stream ended before a reply began");
  }
  const atEnd = outputs.length === 0 && endJson !== null ? outputTexts(endJson) : [];
  const texts = [...outputs.flatMap(({ json }) => json ?? []), ...atEnd];
  const content = [...outputs.flatMap(toContent), ...atEnd.flatMap(toBlocks)];
  const ended = endJson === null ? { ...response, status: "in_progress" } : (response ?? {});
  const reply = toReply(ended, texts, content, failure);
  if (unreadable === 0) return reply;
  const warnings = [...reply.usage.warnings, `events that could not be read: ${unreadable}`];
  return { ...reply, usage: { ...reply.usage, warnings } };
}

interface GatheredItem {
  begun: Item | null;
  readonly pieces: string[];
  /** Null if the stream was cut before the item ended. */
  json: JsonText | null;
}

function groupItems(arrived: GrowingList<Arrived>): ReadonlyMap<number, GatheredItem> {
  const items = new Map<number, GatheredItem>();
  for (const what of itemsOf(arrived)) {
    const item = items.get(what.place) ?? { begun: null, pieces: [], json: null };
    items.set(what.place, item);
    if (what.kind === "begun") item.begun = what.item;
    else if (what.kind === "piece") item.pieces.push(what.text);
    else item.json = what.json;
  }
  return items;
}

/** A cut sealed item cannot be sent again; only its readable text is kept. */
function toContent({ begun, pieces, json }: GatheredItem): readonly Block[] {
  if (json !== null) return toBlocks(json);
  const text = pieces.join("");
  if (begun?.kind === "call") {
    const { callId: id, name } = begun;
    return [{ type: "tool_use", id, name, inputJson: toInputJson(text) }];
  }
  if (text === "") return [];
  return begun?.kind === "reasoning" ? [{ type: "thinking", text }] : [{ type: "text", text }];
}
