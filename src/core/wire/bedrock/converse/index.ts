// Converse: one API for all models of Amazon Bedrock. Cache points stand among the blocks; answers stream as binary frames.
import { limitEvents } from "../../limit-events.ts";
import type { Protocol } from "../../protocol.ts";
import { converseAccess } from "../access.ts";
import { readFailure } from "../failure.ts";
import { encodeRefusal } from "../refusal.ts";
import { counting } from "./counting.ts";
import { decodeReply } from "./decode.ts";
import { conversePath, encodeRequest } from "./encode.ts";
import { foreign } from "./foreign.ts";
import type { ConverseRequest } from "./schema.ts";
import { toSpelling } from "./spelling.ts";
import { streamDecoder } from "./stream.ts";
import { findUsage, readUsage } from "./usage.ts";

export const bedrockConverse: Protocol<"bedrock-converse", ConverseRequest> = {
  name: "bedrock-converse",
  title: "Bedrock Converse",
  access: converseAccess,
  path: conversePath,
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
  effects: "bedrock",
  counting,
};
