// Reads a streamed reply: step(state, event) → [state, parts], and the reply at the end.
import { type Fields, fieldsOf, parseFields } from "../../message/fields.ts";
import { growingList, type GrowingList } from "../../growing/growing-list.ts";
import { escapeLoneSurrogates, memberTexts } from "../../message/json-text.ts";
import { malformed, type ProviderFailure } from "../failure.ts";
import type { ServerEvent, StreamDecoder } from "../protocol.ts";
import type { Reply, StreamPart } from "../reply.ts";
import { toReply } from "./decode.ts";
import { excerpt, toFailure } from "./failure.ts";
import { textOf } from "./schema.ts";
import { joinPieces } from "./stream-blocks.ts";
import { toPieces, type Piece } from "./stream-pieces.ts";

export interface StreamState {
  /** The message's members that have arrived; null before it began. */
  readonly fields: Fields | null;
  /** The pieces of the blocks, in order; joined once, at the end. */
  readonly pieces: GrowingList<Piece>;
  /** Ids of the tool uses by the index of their block. */
  readonly toolUseIds: ReadonlyMap<number, string>;
  readonly isStopped: boolean;
  readonly failure: ProviderFailure | null;
}

type Stepped = readonly [StreamState, readonly StreamPart[]];

export const streamDecoder: StreamDecoder<StreamState> = {
  start: {
    fields: null,
    pieces: growingList(),
    toolUseIds: new Map(),
    isStopped: false,
    failure: null,
  },
  step: (state, event) => (state.isStopped || event.data === "" ? [state, []] : read(state, event)),
  finish,
};

function finish({ fields, pieces, isStopped, failure }: StreamState): Reply | ProviderFailure {
  if (fields === null && pieces.length === 0) {
    return failure ?? malformed("the stream ended before a reply began");
  }
  const { content, warnings } = joinPieces(pieces);
  const isEnded = isStopped || textOf(fields?.["stop_reason"]) !== "";
  return toReply({
    fields: fields ?? {},
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
      return [{ ...state, fields: fieldsOf(fields["message"]) }, []];
    case "content_block_start":
      return startBlock(state, fields, data);
    case "content_block_delta":
      return addDelta(state, fields, data);
    case "message_delta":
      return [{ ...state, fields: withDelta(state.fields ?? {}, fields) }, []];
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
  const pieces = state.pieces.append([{ kind: "start", index, json }]);
  const { type, id, name, text } = fieldsOf(fields["content_block"]);
  if (type === "tool_use") {
    const toolUseIds = new Map(state.toolUseIds).set(index, textOf(id));
    const part: StreamPart = { type: "tool", toolUseId: textOf(id), name: textOf(name) };
    return [{ ...state, pieces, toolUseIds }, [part]];
  }
  const begun = type === "text" ? textOf(text) : "";
  return [{ ...state, pieces }, begun === "" ? [] : [{ type: "text", text: begun }]];
}

function addDelta(state: StreamState, fields: Fields, data: string): Stepped {
  const index = indexOf(fields);
  if (index === null) return fail(state, malformed(`an event names no block: ${excerpt(data)}`));
  const pieces = toPieces(index, fieldsOf(fields["delta"]), data);
  const parts = pieces.flatMap((piece) => toParts(piece, state.toolUseIds));
  return [{ ...state, pieces: state.pieces.append(pieces) }, parts];
}

function toParts(piece: Piece, toolUseIds: StreamState["toolUseIds"]): readonly StreamPart[] {
  if (piece.kind !== "delta" || piece.text === "") return [];
  switch (piece.member) {
    case "text":
      return [{ type: "text", text: piece.text }];
    case "thinking":
      return [{ type: "thinking", text: piece.text }];
    case "input": {
      const id = toolUseIds.get(piece.index);
      return id === undefined ? [] : [{ type: "tool-input", toolUseId: id, json: piece.text }];
    }
    case "signature":
    case "citations":
    case "content":
    case "encrypted_content":
      return [];
  }
}

/** Counts are cumulative: a later value replaces an earlier one, but null does not. */
function withDelta(fields: Fields, event: Fields): Fields {
  const { delta, usage, context_management, input_transformations } = event;
  const counts = { ...fieldsOf(fields["usage"]), ...withoutNulls(fieldsOf(usage)) };
  return {
    ...fields,
    ...withoutNulls({ ...fieldsOf(delta), context_management, input_transformations }),
    ...(Object.keys(counts).length === 0 ? {} : { usage: counts }),
  };
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}

function indexOf(fields: Fields): number | null {
  const index = fields["index"];
  return typeof index === "number" ? index : null;
}
