// InvokeModel of Amazon Bedrock for Claude: bodies of the Messages API, one event of it in each frame of a stream.
import { decodeReply } from "./decode.ts";
import { toSpelling } from "./spelling.ts";
import { findUsage, readUsage } from "./usage.ts";
import { limitEvents } from "../../limit-events.ts";
import type { Protocol } from "../../protocol.ts";
import { invokeAccess } from "../access.ts";
import { readFailure } from "../failure.ts";
import { encodeRefusal } from "../refusal.ts";
import { counting } from "./counting.ts";
import { encodeRequest, invokePath } from "./encode.ts";
import { foreign } from "./foreign.ts";
import type { InvokeRequest } from "./schema.ts";
import { streamDecoder } from "./stream.ts";

export const bedrockInvoke: Protocol<"bedrock-invoke", InvokeRequest> = {
  name: "bedrock-invoke",
  title: "Bedrock InvokeModel",
  access: invokeAccess,
  path: invokePath,
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
