// The Messages protocol: explicit markers on blocks, messages as lists of blocks.
import type { Protocol } from "../protocol.ts";
import { compaction } from "./compaction.ts";
import { decodeReply } from "./decode.ts";
import { encodeRequest } from "./encode.ts";
import { readFailure } from "./failure.ts";
import { toSpelling } from "./spelling.ts";
import { streamDecoder } from "./stream.ts";

export const anthropicMessages: Protocol = {
  name: "anthropic-messages",
  path: "/v1/messages",
  writesMarkers: true,
  spelling: toSpelling,
  encode: encodeRequest,
  decode: decodeReply,
  stream: streamDecoder,
  readFailure,
  compaction,
};
