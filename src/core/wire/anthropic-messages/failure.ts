// The meaning of a refusal: by its exact text if that says more, else by its type or status.
import { type Fields, fieldsOf, parseFields } from "../../message/fields.ts";
import {
  kindOfStatus,
  readRetryAfter,
  toFailureOf,
  toTokens,
  type ProviderFailure,
  type StatusKind,
} from "../failure.ts";
import { findOverflow } from "../overflow.ts";
import type { RefusedAnswer } from "../protocol.ts";
import { textOf } from "./schema.ts";

export function readFailure({ status, headers, body, nowMs }: RefusedAnswer): ProviderFailure {
  const fields = parseFields(body) ?? {};
  const error = fieldsOf(fields["error"]);
  const detail = messageIn(error) || excerpt(body).trim() || `status ${status}`;
  return classify({
    status,
    type: textOf(error["type"]),
    detail,
    retryAfterMs: readRetryAfter(headers, nowMs),
  });
}

/** An error in place of a reply: in a stream, or in an answer with a success status. */
export function toFailure(fields: Fields): ProviderFailure {
  const error = fieldsOf(fields["error"]);
  const type = textOf(error["type"]);
  const detail = messageIn(error) || type.trim() || "an error without a message";
  return classify({ status: null, type, detail, retryAfterMs: undefined });
}

/** Empty for a blank one. */
function messageIn(error: Fields): string {
  const message = textOf(error["message"]);
  return message.trim() === "" ? "" : message;
}

/** Enough of a text to recognise it. */
export function excerpt(text: string): string {
  return text.slice(0, 200).toWellFormed();
}

interface Refusal {
  /** Null within an answer that began as a success. */
  readonly status: number | null;
  readonly type: string;
  readonly detail: string;
  readonly retryAfterMs: number | undefined;
}

function classify(refusal: Refusal): ProviderFailure {
  const { detail, retryAfterMs } = refusal;
  const kind = findKind(refusal);
  if (kind === "invalid-request") return explainInvalid(detail);
  return toFailureOf(kind, detail, retryAfterMs);
}

function findKind({ status, type }: Refusal): StatusKind {
  const named = kindOfType.get(type);
  if (status === null) return named ?? "server-error";
  // Among server errors only an overload has its own kind.
  if (status >= 500)
    return status === 529 || named === "overloaded" ? "overloaded" : "server-error";
  return kindOfStatus.get(status) ?? named ?? (status >= 400 ? "invalid-request" : "malformed");
}

const kindOfType: ReadonlyMap<string, StatusKind> = new Map([
  ["invalid_request_error", "invalid-request"],
  ["conflict_error", "server-error"],
  ["authentication_error", "authentication"],
  ["billing_error", "billing"],
  ["permission_error", "permission"],
  ["not_found_error", "not-found"],
  ["request_too_large", "request-too-large"],
  ["rate_limit_error", "rate-limited"],
  ["overloaded_error", "overloaded"],
  ["api_error", "server-error"],
  ["timeout_error", "server-error"],
]);

function explainInvalid(detail: string): ProviderFailure {
  const tooLong = findOverflow(detail);
  if (tooLong !== undefined) return tooLong;
  const sum = /input length and `max_tokens` exceed context limit: (\d+) \+ (\d+) > (\d+)/.exec(
    detail,
  );
  if (sum !== null) return overflow(detail, String(Number(sum[1]) + Number(sum[2])), sum[3]);
  if (detail.includes("Invalid `signature` in `thinking` block")) {
    return { kind: "thinking-mismatch", detail };
  }
  return { kind: "invalid-request", detail };
}

function overflow(detail: string, tokens?: string, tokensMax?: string): ProviderFailure {
  return {
    kind: "context-overflow",
    detail,
    tokens: toTokens(tokens),
    tokensMax: toTokens(tokensMax),
  };
}
