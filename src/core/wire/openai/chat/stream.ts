// Reads a streamed completion chunk by chunk.
import { malformed } from "../../failure.ts";
import { failureIn } from "../failure.ts";
import { parseFields } from "../../../message/fields.ts";
import type { ServerEvent, StreamDecoder } from "../../protocol.ts";
import type { StreamPart } from "../../reply.ts";
import { nothingYet, takeAnswer, toReply, type ChatState } from "./decode.ts";
import { readAnswer, type ChatAnswer } from "./schema.ts";

export const chatStream: StreamDecoder<ChatState> = {
  start: nothingYet,
  step: stepChat,
  finish: (state) => {
    const { hasBegun, failure } = state;
    if (!hasBegun) return failure ?? malformed("the stream ended before a reply began");
    return toReply(state);
  },
};

function stepChat(
  state: ChatState,
  { data }: ServerEvent,
): readonly [ChatState, readonly StreamPart[]] {
  if (data.trim() === "[DONE]") return [{ ...state, isDone: true }, []];
  const fields = parseFields(data);
  if (fields === undefined) return [{ ...state, unreadable: state.unreadable + 1 }, []];
  const failure = failureIn(fields);
  if (failure !== undefined) return [{ ...state, failure }, []];
  const answer = readAnswer(fields, "delta");
  const next = takeAnswer(state, answer);
  return [next, partsOf(answer, state, next)];
}

function partsOf({ choice }: ChatAnswer, before: ChatState, after: ChatState): StreamPart[] {
  if (choice === null) return [];
  const parts: StreamPart[] = [];
  const { thinking = "", text = "", refusal = "" } = choice;
  if (thinking !== "") parts.push({ type: "thinking", text: thinking });
  if (text !== "") parts.push({ type: "text", text });
  if (refusal !== "") parts.push({ type: "text", text: refusal });
  for (const { index, name = "", input = "" } of choice.calls) {
    const id = after.callIds.get(index) ?? "";
    if (before.callIds.get(index) === undefined) parts.push({ type: "tool", toolUseId: id, name });
    if (input !== "") parts.push({ type: "tool-input", toolUseId: id, json: input });
  }
  return parts;
}
