// Why the Gemini API or Vertex did not answer.
import {
  fieldsOf,
  listIn,
  listOf,
  parseFields,
  textIn,
  type Fields,
} from "../../message/fields.ts";
import {
  kindOfStatus,
  readRetryAfter,
  toFailureOf,
  toTokens,
  type ProviderFailure,
  type StatusKind,
} from "../failure.ts";
import type { RefusedAnswer } from "../protocol.ts";

/** Reads `{"error":{"code","message","status","details"}}`, also in a list of one; for another body, only the HTTP status. */
export function readFailure({ status, headers, body, nowMs }: RefusedAnswer): ProviderFailure {
  const error = errorIn(fieldsIn(body));
  const detail = error?.detail ?? (excerpt(body).trim() || `status ${status}`);
  const retryAfterMs = error?.retryAfterMs ?? readRetryAfter(headers, nowMs);
  return classify({ ...(error ?? noError), detail, retryAfterMs, status });
}

/** A failure inside an answer that began as a success; undefined if there is none. */
export function failureIn(answer: Fields): ProviderFailure | undefined {
  const error = errorIn(answer);
  return error === undefined ? undefined : classify({ ...error, status: error.code });
}

/** Enough of a text to recognise it. */
export function excerpt(text: string): string {
  return text.slice(0, 200).toWellFormed();
}

function fieldsIn(body: string): Fields {
  const fields = parseFields(body);
  if (fields !== undefined) return fields;
  try {
    return fieldsOf(listOf(JSON.parse(body))[0]);
  } catch {
    return {};
  }
}

interface ReportedError {
  readonly detail: string;
  /** An HTTP status; 0 if it gives none. */
  readonly code: number;
  /** The name of the status, such as RESOURCE_EXHAUSTED. */
  readonly name: string;
  /** Names that say more, such as API_KEY_INVALID. */
  readonly reasons: readonly string[];
  readonly retryAfterMs: number | undefined;
}

const noError = { code: 0, name: "", reasons: [] } as const;

function errorIn(answer: Fields): ReportedError | undefined {
  const nested = answer["error"];
  if (nested === undefined || nested === null) return undefined;
  const error = fieldsOf(nested);
  const message = typeof nested === "string" ? nested : (textIn(error, "message") ?? "");
  const name = textIn(error, "status") ?? "";
  const details = listIn(error, "details").map(fieldsOf);
  return {
    detail: message.trim() === "" ? name || "an error without a message" : message,
    code: typeof error["code"] === "number" ? error["code"] : 0,
    name,
    reasons: details.flatMap((each) => textIn(each, "reason") ?? []),
    retryAfterMs: details
      .map((each) => toMs(textIn(each, "retryDelay")))
      .find((ms) => ms !== undefined),
  };
}

/** `34s` or `0.5s`. */
function toMs(delay: string | undefined): number | undefined {
  const seconds = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(delay ?? "")?.[1];
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000);
}

interface Refusal extends ReportedError {
  /** 0 if it is not known. */
  readonly status: number;
}

function classify(refusal: Refusal): ProviderFailure {
  const { detail, retryAfterMs, status, name } = refusal;
  if (status !== 429 && name !== "RESOURCE_EXHAUSTED") {
    if (overflowTexts.some((text) => text.test(detail))) return overflow(detail);
    if (signatureText.test(detail)) return { kind: "thinking-mismatch", detail };
  }
  return toFailureOf(findKind(refusal), detail, retryAfterMs);
}

const overflowTexts = [
  /input token count.*exceeds the maximum number of tokens allowed/i,
  // As gateways before the provider say it.
  /prompt is too long|exceeds the context window/i,
];

/** Missing, invalid or corrupted. */
const signatureText = /thought[ _]?signature/i;

function overflow(detail: string): ProviderFailure {
  const tokens = /input token count \((\d+)\)/i.exec(detail)?.[1];
  const tokensMax = /number of tokens allowed \((\d+)\)/i.exec(detail)?.[1];
  return {
    kind: "context-overflow",
    detail,
    tokens: toTokens(tokens),
    tokensMax: toTokens(tokensMax),
  };
}

function findKind({ status, name, reasons, detail }: Refusal): StatusKind {
  if (reasons.includes("API_KEY_INVALID")) return "authentication";
  if (/request payload size exceeds/i.test(detail)) return "request-too-large";
  const named = kindOfName.get(name);
  if (named !== undefined) return named;
  if (status === 503 || status === 529) return "overloaded";
  if (status >= 500) return "server-error";
  return kindOfStatus.get(status) ?? (status >= 400 ? "invalid-request" : "server-error");
}

/** Names of google.rpc.Code. */
const kindOfName: ReadonlyMap<string, StatusKind> = new Map([
  ["INVALID_ARGUMENT", "invalid-request"],
  ["FAILED_PRECONDITION", "invalid-request"],
  ["OUT_OF_RANGE", "invalid-request"],
  ["UNAUTHENTICATED", "authentication"],
  ["PERMISSION_DENIED", "permission"],
  ["NOT_FOUND", "not-found"],
  ["RESOURCE_EXHAUSTED", "rate-limited"],
  ["ABORTED", "server-error"],
  ["INTERNAL", "server-error"],
  ["UNKNOWN", "server-error"],
  ["DEADLINE_EXCEEDED", "server-error"],
  ["UNAVAILABLE", "overloaded"],
]);
