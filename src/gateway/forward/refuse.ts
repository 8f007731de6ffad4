// Answers of our own, for requests that are not forwarded: in the words of the request's protocol, or in one form that clients of every
// provider can read.
import type { ServerResponse } from "node:http";
import { SigningFailed } from "../upstreams/sign-upstream.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { EncodedRefusal, RefusalToEncode } from "../../core/wire/refusal.ts";

export interface Refusal {
  readonly status: number;
  readonly code: RefusalCode;
  readonly message: string;
  /** The same as the upstream would say it; absent for our own form. */
  readonly encoded?: EncodedRefusal;
}

/** In the words of the request's protocol, if it is known. */
export function refusalAs(
  protocol: Protocol | null,
  code: RefusalCode,
  refusal: RefusalToEncode,
): Refusal {
  const { message } = refusal;
  const status = statusOf[refusal.kind];
  if (protocol === null) return { status, code, message };
  const encoded = protocol.encodeRefusal(refusal);
  return { status: encoded.status, code, message, encoded };
}

const statusOf: Readonly<Record<RefusalToEncode["kind"], number>> = {
  authentication: 401,
  permission: 403,
  billing: 429,
  "rate-limited": 429,
  "invalid-request": 400,
  "request-too-large": 413,
  overloaded: 503,
};

export type RefusalCode =
  | "bad_request"
  | "token_required"
  | "too_many_headers"
  | "key_required"
  | "not_allowed"
  | "budget_spent"
  | "rate_limited"
  | "body_unread"
  | "body_too_large"
  | "busy"
  | "foreign_host"
  | "foreign_origin"
  | "no_upstream"
  | "transfer_coding"
  | "websocket_refused"
  | "upstream_unreachable"
  | "upstream_timeout"
  | "not_signed"
  | "internal";

/** Marks our own answers, to distinguish them from an upstream's. */
const errorHeader = "x-strata-error";

/** All providers' clients look for `error.message`; some for `type` beside it, some for `error.code`. */
export function refusalBody({ code, message }: Refusal): string {
  return JSON.stringify({ type: "error", error: { type: code, code, message } });
}

/** Does nothing if an answer has begun. */
export function refuse(outgoing: ServerResponse, refusal: Refusal): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  const { body = refusalBody(refusal), headers = { "content-type": "application/json" } } =
    refusal.encoded ?? {};
  outgoing.writeHead(refusal.status, {
    ...headers,
    "content-length": Buffer.byteLength(body),
    [errorHeader]: refusal.code,
    ...(refusal.status === 426 ? { upgrade: "websocket" } : {}),
  });
  outgoing.end(body);
}

/** The text of a client library's error when no answer came. */
export function toRefusal(error: Error, upstream: string): Refusal {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const isLate = code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_CONNECT_TIMEOUT";
  const what = error.message === "" ? code : error.message;
  if (error instanceof SigningFailed) {
    return {
      status: 502,
      code: "not_signed",
      message: `the request to ${upstream} cannot be signed: ${what}`,
    };
  }
  return isLate
    ? {
        status: 504,
        code: "upstream_timeout",
        message: `${upstream} did not answer in time: ${what}`,
      }
    : {
        status: 502,
        code: "upstream_unreachable",
        message: `${upstream} gave no answer: ${what}`,
      };
}
