// Claude on Vertex AI: bodies of the Messages API at Google's paths, with Google's credentials.
import { createCompaction } from "../anthropic-messages/compaction.ts";
import { decodeReply } from "./decode.ts";
import { readFailure } from "../anthropic-messages/failure.ts";
import { encodeRefusal } from "../gemini/refusal.ts";
import { toSpelling } from "./spelling.ts";
import { streamDecoder } from "./stream.ts";
import { findUsage, readUsage } from "./usage.ts";
import { limitEvents } from "../limit-events.ts";
import type { Protocol } from "../protocol.ts";
import { access } from "./access.ts";
import { counting } from "./counting.ts";
import { encodeRequest, rawPredictPath } from "./encode.ts";
import { foreign } from "./foreign.ts";
import type { RawPredictRequest } from "./schema.ts";

export const vertexAnthropic: Protocol<"vertex-anthropic", RawPredictRequest> = {
  name: "vertex-anthropic",
  title: "Vertex rawPredict",
  access,
  path: rawPredictPath,
  writesMarkers: true,
  spelling: toSpelling,
  encode: encodeRequest,
  decode: decodeReply,
  stream: limitEvents(streamDecoder),
  readFailure,
  encodeRefusal,
  findUsage,
  readUsage,
  foreign,
  counting,
  compaction: createCompaction(encodeRequest),
};
