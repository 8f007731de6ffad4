// Reads a streamed reply: step(state, event) → [state, parts], and the reply at the end.
import { type Fields, fieldsOf, parseFields } from "../../message/fields.ts";
import { growingList, itemsOf, type GrowingList } from "../../growing/growing-list.ts";
import { growingMap, type GrowingMap } from "../../growing/growing-map.ts";
import { escapeLoneSurrogates, memberTexts } from "../../message/json-text.ts";
import { malformed, type ProviderFailure } from "../failure.ts";
import type { ServerEvent, StreamDecoder } from "../protocol.ts";
import type { Reply, StreamPart } from "../reply.ts";
import { toReply } from "./decode.ts";
import { excerpt, toFailure } from "./failure.ts";
import { textOf } from "./schema.ts";
import { joinUsage } from "./usage.ts";
import {
  addPiece,
  joinPieces,
  noPieces,
  toPieces,
  type Piece,
  type Pieces,
} from "./stream-blocks.ts";

export interface StreamState {
  /** The message as it began; null before that. */
  readonly fields: Fields | null;
  /** The events that change it later, in order; merged once, at the end. */
  readonly deltas: GrowingList<Fields>;
  /** The pieces of the blocks; joined once, at the end. */
  readonly pieces: Pieces;
  /** Ids of the tool uses by the index of their block. */
  readonly toolUseIds: GrowingMap<number, string>;
  readonly isStopped: boolean;
  readonly failure: ProviderFailure | null;
}

type Stepped = readonly [StreamState, readonly StreamPart[]];

export const streamDecoder: StreamDecoder<StreamState> = {
  start: {
    fields: null,
    deltas: growingList(),
    pieces: noPieces,
    toolUseIds: growingMap(),
    isStopped: false,
    failure: null,
  },
  step: (state, event) => (state.isStopped || event.data === "" ? [state, []] : read(state, event)),
  finish,
};

function finish(state: StreamState): Reply | ProviderFailure {
  const { pieces, deltas, isStopped, failure } = state;
  if (state.fields === null && deltas.length === 0 && pieces.last === null) {
    return failure ?? malformed("the stream ended before a reply began");
  }
  const { content, warnings } = joinPieces(pieces);
  const fields = withDeltas(state.fields ?? {}, deltas);
  const isEnded = isStopped || textOf(fields["stop_reason"]) !== "";
  return toReply({
    fields,
    content,
    warnings,
    status: isEnded && failure === null ? "complete" : "partial",
    ...(failure === null ? {} : { failure }),
  });
}

/** Unknown events are ignored, as the provider asks of its clients. */
function read(state: StreamState, { event, data }: ServerEvent): Stepped {
  const fields = parseFields(data);
  if (fields === undefined) return fail(state, malformed(`an event is not JSON: ${excerpt(data)}`));
  switch (textOf(fields["type"]) || (event ?? "")) {
    case "message_start":
      return [{ ...state, fields: fieldsOf(fields["message"]), deltas: growingList() }, []];
    case "content_block_start":
      return startBlock(state, fields, data);
    case "content_block_delta":
      return addDelta(state, fields, data);
    case "message_delta":
      return [{ ...state, deltas: state.deltas.append([fields]) }, []];
    case "message_stop":
      return [{ ...state, isStopped: true }, []];
    case "error":
      return fail(state, toFailure(fields));
    default:
      return [state, []];
  }
}

/** The first failure is the cause. Later events are still read. */
function fail(state: StreamState, failure: ProviderFailure): Stepped {
  return [{ ...state, failure: state.failure ?? failure }, []];
}

function startBlock(state: StreamState, fields: Fields, data: string): Stepped {
  const json = memberTexts(escapeLoneSurrogates(data)).get("content_block") ?? "";
  const index = indexOf(fields);
  if (index === null || !json.startsWith("{")) {
    return fail(state, malformed(`an event starts no block: ${excerpt(data)}`));
  }
  const pieces = addPiece(state.pieces, { kind: "start", index, json });
  const { type, id, name, text } = fieldsOf(fields["content_block"]);
  if (type === "tool_use") {
    const toolUseIds = state.toolUseIds.set(index, textOf(id));
    const part: StreamPart = { type: "tool", toolUseId: textOf(id), name: textOf(name) };
    return [{ ...state, pieces, toolUseIds }, [part]];
  }
  const begun = type === "text" ? textOf(text) : "";
  return [{ ...state, pieces }, begun === "" ? [] : [{ type: "text", text: begun }]];
}

function addDelta(state: StreamState, fields: Fields, data: string): Stepped {
  const index = indexOf(fields);
  if (index === null) return fail(state, malformed(`an event names no block: ${excerpt(data)}`));
  let { pieces } = state;
  const parts: StreamPart[] = [];
  for (const piece of toPieces(index, fieldsOf(fields["delta"]), data)) {
    pieces = addPiece(pieces, piece);
    const part = toPart(piece, state.toolUseIds);
    if (part !== null) parts.push(part);
  }
  return [{ ...state, pieces }, parts];
}

function toPart(piece: Piece, toolUseIds: StreamState["toolUseIds"]): StreamPart | null {
  if (piece.kind !== "delta" || piece.text === "") return null;
  switch (piece.member) {
    case "text":
      return { type: "text", text: piece.text };
    case "thinking":
      return { type: "thinking", text: piece.text };
    case "input": {
      const id = toolUseIds.get(piece.index);
      return id === undefined ? null : { type: "tool-input", toolUseId: id, json: piece.text };
    }
    case "signature":
    case "citations":
    case "content":
    case "encrypted_content":
      return null;
  }
}

/** A later value replaces an earlier one, but null does not. */
function withDeltas(fields: Fields, deltas: GrowingList<Fields>): Fields {
  const merged = new Map(Object.entries(fields));
  const usages: Fields[] = [];
  for (const event of itemsOf(deltas)) {
    const { context_management, input_transformations } = event;
    setValues(merged, { ...fieldsOf(event["delta"]), context_management, input_transformations });
    usages.push(fieldsOf(event["usage"]));
  }
  const usage = joinUsage(fieldsOf(fields["usage"]), usages);
  if (Object.keys(usage).length > 0) merged.set("usage", usage);
  return Object.fromEntries(merged);
}

function setValues(map: Map<string, unknown>, values: Fields): void {
  for (const [key, value] of Object.entries(values)) {
    if (value !== null && value !== undefined) map.set(key, value);
  }
}

function indexOf(fields: Fields): number | null {
  const index = fields["index"];
  return typeof index === "number" ? index : null;
}
