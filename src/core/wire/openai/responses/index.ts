// The Responses API of OpenAI.
import { responsesAccess } from "../access.ts";
import { readOpenaiFailure } from "../failure.ts";
import { encodeRefusal } from "../refusal.ts";
import { limitEvents } from "../../limit-events.ts";
import type { Protocol } from "../../protocol.ts";
import { compaction } from "./compaction.ts";
import { counting } from "./counting.ts";
import { decodeResponses } from "./decode.ts";
import { encodeResponses, prewarm } from "./encode.ts";
import { foreign } from "./foreign.ts";
import { responsesPath, type ResponsesRequest } from "./schema.ts";
import { responsesSpelling } from "./spelling.ts";
import { responsesStream } from "./stream.ts";
import { findResponsesUsage, readResponsesUsage } from "./usage.ts";

export const openaiResponses: Protocol<"openai-responses", ResponsesRequest> = {
  name: "openai-responses",
  title: "Responses",
  access: responsesAccess,
  path: () => responsesPath,
  writesMarkers: true,
  spelling: () => responsesSpelling,
  encode: encodeResponses,
  decode: decodeResponses,
  stream: limitEvents(responsesStream),
  tellingEvents:
    /(?:"|^event: ?)(?:response\.(?:created|completed|incomplete|failed)|error)(?:"|\r?$)/m,
  readFailure: readOpenaiFailure,
  encodeRefusal,
  findUsage: findResponsesUsage,
  readUsage: readResponsesUsage,
  foreign,
  diagnosisMember: "prompt_cache_options",
  counting,
  compaction,
  prewarm,
};
