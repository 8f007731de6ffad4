// Reads a streamed reply of Converse: step(state, event) → [state, parts], and the reply at the end.
import { growingList, type GrowingList } from "../../../growing/growing-list.ts";
import { growingMap, type GrowingMap } from "../../../growing/growing-map.ts";
import {
  countIn,
  fieldsIn,
  isObject,
  parseFields,
  textIn,
  type Fields,
} from "../../../message/fields.ts";
import { malformed, type ProviderFailure } from "../../failure.ts";
import type { ServerEvent, StreamDecoder } from "../../protocol.ts";
import type { Reply, StreamPart } from "../../reply.ts";
import { excerpt, failureIn } from "../failure.ts";
import { toReply } from "./decode.ts";
import { joinPieces, toPieces, type Piece } from "./stream-blocks.ts";

export interface StreamState {
  readonly hasBegun: boolean;
  /** The pieces of the blocks, in order; joined once, at the end. */
  readonly pieces: GrowingList<Piece>;
  /** Ids of the tool uses by the index of their block. */
  readonly toolUseIds: GrowingMap<number, string>;
  /** Undefined until the message stopped. */
  readonly stop: string | undefined;
  readonly usage: unknown;
  readonly failure: ProviderFailure | null;
}

type Stepped = readonly [StreamState, readonly StreamPart[]];

export const streamDecoder: StreamDecoder<StreamState> = {
  start: {
    hasBegun: false,
    pieces: growingList(),
    toolUseIds: growingMap(),
    stop: undefined,
    usage: undefined,
    failure: null,
  },
  step: (state, event) => {
    const exception = failureIn(event);
    return exception === undefined ? read(state, event) : fail(state, exception);
  },
  finish,
};

function finish({ hasBegun, pieces, stop, usage, failure }: StreamState): Reply | ProviderFailure {
  if (!hasBegun) return failure ?? malformed("the stream ended before a reply began");
  const { content, warnings } = joinPieces(pieces);
  return toReply({
    content,
    stop,
    usage,
    warnings,
    status: stop !== undefined && failure === null ? "complete" : "partial",
    ...(failure === null ? {} : { failure }),
  });
}

/** Unknown events are ignored: a service may add some. */
function read(state: StreamState, { event, data }: ServerEvent): Stepped {
  const fields = parseFields(data);
  if (fields === undefined) return fail(state, malformed(`an event is not JSON: ${excerpt(data)}`));
  // Without a name it is written as SDKs show it: one member, named like the event.
  const name = event ?? Object.keys(fields)[0];
  const own = event === undefined ? fieldsIn(fields, name ?? "") : fields;
  switch (name ?? "") {
    case "messageStart":
      return [{ ...state, hasBegun: true }, []];
    case "contentBlockStart":
    case "contentBlockDelta":
      return takePieces(state, own, data);
    case "messageStop":
      return [{ ...state, hasBegun: true, stop: textIn(own, "stopReason") ?? "" }, []];
    case "metadata":
      return [{ ...state, usage: isObject(own["usage"]) ? own["usage"] : state.usage }, []];
    default:
      return [state, []];
  }
}

/** The first failure is the cause. Later events are still read. */
function fail(state: StreamState, failure: ProviderFailure): Stepped {
  return [{ ...state, failure: state.failure ?? failure }, []];
}

function takePieces(state: StreamState, fields: Fields, data: string): Stepped {
  const index = countIn(fields, "contentBlockIndex");
  if (index === undefined)
    return fail(state, malformed(`an event names no block: ${excerpt(data)}`));
  const parts: StreamPart[] = [];
  let { toolUseIds } = state;
  const pieces = toPieces(index, fields);
  for (const piece of pieces) {
    if (piece.kind === "tool use") {
      toolUseIds = toolUseIds.set(index, piece.id);
      parts.push({ type: "tool", toolUseId: piece.id, name: piece.name });
    } else if (piece.kind === "delta" && piece.text !== "") {
      const part = toPart(piece.member, piece.text, toolUseIds.get(index));
      if (part !== null) parts.push(part);
    }
  }
  const next = { ...state, hasBegun: true, pieces: state.pieces.append(pieces), toolUseIds };
  return [next, parts];
}

function toPart(
  member: Extract<Piece, { readonly kind: "delta" }>["member"],
  text: string,
  toolUseId: string | undefined,
): StreamPart | null {
  switch (member) {
    case "text":
      return { type: "text", text };
    case "thinking":
      return { type: "thinking", text };
    case "input":
      return toolUseId === undefined ? null : { type: "tool-input", toolUseId, json: text };
    case "signature":
    case "redacted":
      return null;
  }
}
