// Reads a streamed reply event by event.
import type { StreamDecoder } from "../protocol.ts";
import type { StreamPart } from "../reply.ts";
import {
  finishGemini,
  nothingYet,
  takeEvent,
  type ArrivedPart,
  type GeminiState,
} from "./decode.ts";

export const geminiStream: StreamDecoder<GeminiState> = {
  start: nothingYet,
  step: (state, { data }) => {
    if (data.trim() === "") return [state, []];
    const [next, arrived] = takeEvent(state, data);
    return [next, arrived.flatMap(toStreamParts)];
  },
  finish: finishGemini,
};

function toStreamParts({ part, toolUseId }: ArrivedPart): readonly StreamPart[] {
  const { text = "", isThought, call } = part;
  if (call !== undefined) {
    return [
      { type: "tool", toolUseId, name: call.name },
      { type: "tool-input", toolUseId, json: call.inputJson },
    ];
  }
  if (text === "") return [];
  return [{ type: isThought ? "thinking" : "text", text }];
}
