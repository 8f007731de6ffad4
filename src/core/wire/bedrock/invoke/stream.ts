// Reads a streamed answer of InvokeModel: each frame holds one event of the Messages API in base64.
import {
  streamDecoder as inner,
  type StreamState as InnerState,
} from "../../anthropic-messages/stream.ts";
import { parseFields, textIn } from "../../../message/fields.ts";
import { malformed, type ProviderFailure } from "../../failure.ts";
import type { ServerEvent, StreamDecoder } from "../../protocol.ts";
import { textInBase64 } from "../base64.ts";
import { excerpt, failureIn } from "../failure.ts";

export interface StreamState {
  readonly inner: InnerState;
  /** Reported by the service instead of an event. */
  readonly failure: ProviderFailure | null;
}

export const streamDecoder: StreamDecoder<StreamState> = {
  start: { inner: inner.start, failure: null },
  step: (state, event) => {
    const exception = failureIn(event);
    if (exception !== undefined) return [withFailure(state, exception), []];
    const data = dataOf(event);
    if (data === undefined) {
      const detail = `a frame holds no event: ${excerpt(event.data)}`;
      return [withFailure(state, malformed(detail)), []];
    }
    const [next, parts] = inner.step(state.inner, { event: undefined, data });
    return [{ ...state, inner: next }, parts];
  },
  finish: ({ inner: state, failure }) => {
    const outcome = inner.finish(state);
    if (failure === null) return outcome;
    return outcome.kind === "reply" ? { ...outcome, status: "partial", failure } : failure;
  },
};

/** The first failure is the cause. */
function withFailure(state: StreamState, failure: ProviderFailure): StreamState {
  return { ...state, failure: state.failure ?? failure };
}

/** An event that is in no frame, as a gateway may send it, is taken as it is. */
function dataOf({ data }: ServerEvent): string | undefined {
  const bytes = textIn(parseFields(data) ?? {}, "bytes");
  return bytes === undefined ? data : textInBase64(bytes);
}
