// Answers of our own, for requests that cannot be forwarded. One form that clients of every provider can read.
import type { ServerResponse } from "node:http";
import { SigningFailed } from "../upstreams/sign-upstream.ts";

export interface Refusal {
  readonly status: number;
  readonly code: RefusalCode;
  readonly message: string;
}

export type RefusalCode =
  | "bad_request"
  | "token_required"
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
  const body = refusalBody(refusal);
  outgoing.writeHead(refusal.status, {
    "content-type": "application/json",
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
