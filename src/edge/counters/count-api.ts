// Where providers count tokens, and what of a request their counting does not take.
import { createHash } from "node:crypto";
import type { ContentHash } from "../../core/hash.ts";
import { noUsage } from "../../core/message/usage.ts";
import { toRequest, type EncodedRequest } from "../../core/wire/encoded-request.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Protocol, ProtocolName, StreamDecoder } from "../../core/wire/protocol.ts";
import type { Reply } from "../../core/wire/reply.ts";
import { omitMembers } from "../../core/wire/omit-members.ts";

export interface CountApi {
  readonly name: CountApiName;
  /** Behind the path of the protocol. */
  readonly path: string;
  /**
   * Members that say how a reply is made and that counting refuses. Everything else is sent as it is: what
   * adds to the prompt and cannot be counted must be refused, and not counted without it.
   */
  readonly omitted: ReadonlySet<string>;
}

export type CountApiName = "anthropic_api" | "openai_api";

/** Null where the protocol has no counting. Members by the providers' SDKs, checked 2026-11-15. */
export function findCountApi(protocol: ProtocolName): CountApi | null {
  return countApis[protocol];
}

const countApis: Readonly<Record<ProtocolName, CountApi | null>> = {
  "anthropic-messages": {
    name: "anthropic_api",
    path: "/count_tokens",
    omitted: new Set([
      "diagnostics",
      "fallback_credit_token",
      "fallbacks",
      "inference_geo",
      "max_tokens",
      "metadata",
      "service_tier",
      "stop_sequences",
      "stream",
      "temperature",
      "top_k",
      "top_p",
    ]),
  },
  "openai-responses": {
    name: "openai_api",
    path: "/input_tokens",
    omitted: new Set([
      "background",
      "include",
      "max_output_tokens",
      "max_tool_calls",
      "metadata",
      "prompt_cache_key",
      "prompt_cache_options",
      "prompt_cache_retention",
      "safety_identifier",
      "service_tier",
      "store",
      "stream",
      "stream_options",
      "temperature",
      "top_logprobs",
      "top_p",
      "user",
    ]),
  },
  "openai-chat": null,
};

export interface CountRequest {
  readonly request: EncodedRequest;
  /** Of what is sent: the same content has the same key, in whatever pieces it comes. */
  readonly key: ContentHash;
}

export function toCountRequest({ pieces, headers }: EncodedRequest, api: CountApi): CountRequest {
  const request = toRequest(omitMembers(pieces, api.omitted), headers, []);
  const hash = createHash("sha256").update(`${api.name}\n${JSON.stringify(headers)}\n`);
  for (const piece of request.pieces) hash.update(piece);
  return { request, key: hash.digest("hex") };
}

/** The protocol as the transport needs it for counting: the count is the reply's usage. */
export function toCountingProtocol(protocol: Protocol, api: CountApi): Protocol {
  const { name, writesMarkers } = protocol;
  return {
    name,
    writesMarkers,
    path: `${protocol.path}${api.path}`,
    spelling: (model) => protocol.spelling(model),
    encode: (call) => protocol.encode(call),
    decode: decodeCount,
    stream: noStream,
    readFailure: (answer) => protocol.readFailure(answer),
  };
}

function decodeCount(body: string): Reply | ProviderFailure {
  const tokens = readInputTokens(body);
  if (tokens === null) {
    return { kind: "malformed", detail: `no count in the answer: ${body.slice(0, 100)}` };
  }
  return {
    kind: "reply",
    id: "",
    model: "",
    message: { role: "assistant", content: [] },
    stopReason: "end_turn",
    usage: {
      usage: { ...noUsage, uncachedTokens: tokens },
      isReported: true,
      tellsCache: false,
      warnings: [],
    },
    status: "complete",
    transformations: [],
  };
}

/** Both providers call it the same. No prompt has no tokens: a zero is no count. */
function readInputTokens(body: string): number | null {
  try {
    const answer: unknown = JSON.parse(body);
    if (typeof answer !== "object" || answer === null || !("input_tokens" in answer)) return null;
    const tokens = answer.input_tokens;
    return typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : null;
  } catch {
    return null;
  }
}

const noStream: StreamDecoder = {
  start: null,
  step: (state) => [state, []],
  finish: () => ({ kind: "malformed", detail: "a stream came where a count was asked for" }),
};
