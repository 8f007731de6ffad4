// Why a provider with one of the OpenAI protocols did not answer.
import * as shared from "../failure.ts";
import { fieldsOf, parseFields, textIn, type Fields } from "../../message/fields.ts";
import { findOverflow, overflowTokens } from "../overflow.ts";
import type { RefusedAnswer } from "../protocol.ts";

/** Reads `{"error":{"message","type","param","code"}}` with a status; for another body, only the status. */
export function readOpenaiFailure({
  status,
  headers,
  body,
  nowMs,
}: RefusedAnswer): shared.ProviderFailure {
  const fields = parseFields(body);
  const error = fields === undefined ? undefined : errorIn(fields);
  const detail = error?.detail ?? textOfBody(status, body);
  const retryAfterMs = shared.readRetryAfter(headers, nowMs);
  return toFailure(error ?? { detail, code: "", type: "" }, status, retryAfterMs);
}

/** A failure inside an answer that began as a success, without a status; undefined if there is none. */
export function failureIn(answer: Fields): shared.ProviderFailure | undefined {
  const error = errorIn(answer);
  if (error === undefined) return undefined;
  // Some routers put the upstream's status where others have a name.
  return toFailure(error, /^[45]\d\d$/.test(error.code) ? Number(error.code) : 0, undefined);
}

interface ReportedError {
  readonly detail: string;
  readonly code: string;
  readonly type: string;
}

/** The error of an answer, nested as documented, or bare as stream events and some providers have it. */
function errorIn(answer: Fields): ReportedError | undefined {
  const nested = answer["error"];
  if (typeof nested === "string" && nested.trim() !== "")
    return { detail: nested, code: "", type: "" };
  const isNested = nested !== undefined && nested !== null;
  const error = isNested ? fieldsOf(nested) : answer;
  const message = textIn(error, "message");
  const hasMessage = message !== undefined && message.trim() !== "";
  const detail = hasMessage ? message : isNested ? shown(nested) : undefined;
  if (detail === undefined) return undefined;
  const code = error["code"];
  return {
    detail,
    code: typeof code === "string" || typeof code === "number" ? String(code) : "",
    type: textIn(error, "type") ?? "",
  };
}

/** Its JSON, unless it is nested too deep to be written. */
function shown(error: unknown): string {
  try {
    return JSON.stringify(error);
  } catch {
    return "an error without a message";
  }
}

function toFailure(
  { detail, code, type }: ReportedError,
  status: number,
  retryAfterMs: number | undefined,
): shared.ProviderFailure {
  if (code === "context_length_exceeded") {
    return { kind: "context-overflow", detail, ...overflowTokens(detail) };
  }
  // A limit per minute may also mention tokens.
  const overflow = status === 429 ? undefined : findOverflow(detail);
  if (overflow !== undefined) return overflow;
  const kind = kindOfName.get(code) ?? kindOf(status) ?? kindOfName.get(type) ?? "invalid-request";
  return shared.toFailureOf(kind, detail, retryAfterMs);
}

/** Names that say more than their status, or that have none. */
const kindOfName: ReadonlyMap<string, shared.StatusKind> = new Map([
  ["insufficient_quota", "billing"],
  ["billing_hard_limit_reached", "billing"],
  ["rate_limit_exceeded", "rate-limited"],
  ["rate_limit_error", "rate-limited"],
  ["server_is_overloaded", "overloaded"],
  ["service_unavailable_error", "overloaded"],
  ["overloaded_error", "overloaded"],
  ["server_error", "server-error"],
  ["invalid_api_key", "authentication"],
  ["authentication_error", "authentication"],
  ["permission_error", "permission"],
  ["model_not_found", "not-found"],
]);

function kindOf(status: number): shared.StatusKind | undefined {
  if (status === 503 || status === 529) return "overloaded";
  return status >= 500 ? "server-error" : shared.kindOfStatus.get(status);
}

const shownCharactersMax = 300;

function textOfBody(status: number, body: string): string {
  const text = body.trim().slice(0, shownCharactersMax);
  return text === "" ? `status ${status} without a reason` : `status ${status}: ${text}`;
}
