// The Messages protocol: explicit markers on blocks, messages as lists of blocks.
import { limitEvents } from "../limit-events.ts";
import type { Protocol } from "../protocol.ts";
import { access } from "./access.ts";
import { createCompaction } from "./compaction.ts";
import { counting } from "./counting.ts";
import { decodeReply } from "./decode.ts";
import { encodeRequest } from "./encode.ts";
import { readFailure } from "./failure.ts";
import { encodeRefusal } from "./refusal.ts";
import { foreign } from "./foreign.ts";
import { prewarm } from "./prewarm.ts";
import { messagesPath, type MessagesRequest } from "./schema.ts";
import { toSpelling } from "./spelling.ts";
import { streamDecoder } from "./stream.ts";
import { findUsage, readUsage } from "./usage.ts";

export const anthropicMessages: Protocol<"anthropic-messages", MessagesRequest> = {
  name: "anthropic-messages",
  title: "Messages",
  access,
  path: () => messagesPath,
  writesMarkers: true,
  spelling: toSpelling,
  encode: encodeRequest,
  decode: decodeReply,
  stream: limitEvents(streamDecoder),
  tellingEvents: /(?:"|^event: ?)(?:message_(?:start|delta|stop)|error)(?:"|\r?$)/m,
  readFailure,
  encodeRefusal,
  findUsage,
  readUsage,
  foreign,
  diagnosisMember: "diagnostics",
  counting,
  compaction: createCompaction(encodeRequest),
  prewarm,
};
