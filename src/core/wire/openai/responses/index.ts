// The Responses API of OpenAI.
import { readOpenaiFailure } from "../failure.ts";
import type { Protocol } from "../../protocol.ts";
import { compaction } from "./compaction.ts";
import { decodeResponses } from "./decode.ts";
import { encodeResponses } from "./encode.ts";
import { responsesSpelling } from "./spelling.ts";
import { responsesStream } from "./stream.ts";

export const openaiResponses: Protocol = {
  name: "openai-responses",
  path: "/responses",
  writesMarkers: true,
  spelling: () => responsesSpelling,
  encode: encodeResponses,
  decode: decodeResponses,
  stream: responsesStream,
  readFailure: readOpenaiFailure,
  compaction,
};
