// A protocol as the transport needs it for counting: the count is the reply's usage.
import { noUsage } from "../../core/message/usage.ts";
import { malformed, type ProviderFailure } from "../../core/wire/failure.ts";
import type { Protocol, ProtocolCounting, StreamDecoder } from "../../core/wire/protocol.ts";
import type { Reply } from "../../core/wire/reply.ts";

export function toCountingProtocol(protocol: Protocol, counting: ProtocolCounting): Protocol {
  return {
    ...protocol,
    // It decodes differently, so it must not share a provider with the protocol itself.
    name: `${protocol.name}, counting`,
    decode: (body) => decodeCount(body, counting),
    stream: noStream,
  };
}

function decodeCount(body: string, counting: ProtocolCounting): Reply | ProviderFailure {
  const tokens = counting.decode(body);
  if (tokens === null) return malformed(`no count in the answer: ${body.slice(0, 100)}`);
  return {
    kind: "reply",
    id: "",
    model: "",
    message: { role: "assistant", content: [] },
    stopReason: "end_turn",
    usage: {
      usage: { ...noUsage, uncachedTokens: tokens },
      isReported: true,
      reportsCache: false,
      warnings: [],
    },
    status: "complete",
    transformations: [],
  };
}

const noStream: StreamDecoder = {
  start: null,
  step: (state) => [state, []],
  finish: () => malformed("a stream came where a count was asked for"),
};
