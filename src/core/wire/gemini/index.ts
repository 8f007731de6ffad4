// The generateContent protocol of the Gemini API and of Vertex: nothing is marked, replies carry signatures that come back as they are.
import { limitEvents } from "../limit-events.ts";
import type { Protocol } from "../protocol.ts";
import { access } from "./access.ts";
import { counting } from "./counting.ts";
import { decodeGemini } from "./decode.ts";
import { encodeGemini } from "./encode.ts";
import { readFailure } from "./failure.ts";
import { encodeRefusal } from "./refusal.ts";
import { foreign } from "./foreign.ts";
import { findUsage, geminiPath, type GenerateContentRequest } from "./schema.ts";
import { geminiSpelling } from "./spelling.ts";
import { storing } from "./storing.ts";
import { geminiStream } from "./stream.ts";
import { readUsage } from "./usage.ts";

export const gemini: Protocol<"gemini", GenerateContentRequest> = {
  name: "gemini",
  title: "Gemini",
  operation: "generate_content",
  access,
  path: geminiPath,
  writesMarkers: false,
  spelling: geminiSpelling,
  encode: encodeGemini,
  decode: decodeGemini,
  stream: limitEvents(geminiStream),
  readFailure,
  encodeRefusal,
  findUsage,
  readUsage,
  foreign,
  counting,
  takesStoredPrefix: true,
  storing,
};
