// Why a provider did not answer, as a value for the ledger and the dashboard.
import type { PayloadOf } from "../events/event.ts";
import { daysSinceEpoch } from "../models/moment.ts";

/** The list is closed: a new kind is a decision, not a string. */
export type ProviderFailure =
  | {
      readonly kind: "rate-limited" | "overloaded" | "server-error";
      readonly detail: string;
      readonly retryAfterMs: number | undefined;
    }
  | {
      readonly kind: "context-overflow";
      readonly detail: string;
      /** The provider's own count; undefined if it gives none. */
      readonly tokens: number | undefined;
      readonly tokensMax: number | undefined;
    }
  | { readonly kind: PlainFailureKind; readonly detail: string };

type PlainFailureKind =
  /** A thinking block follows content that was changed. */
  | "thinking-mismatch"
  | "request-too-large"
  | "invalid-request"
  | "authentication"
  | "permission"
  | "billing"
  | "not-found"
  /** The answer does not follow the protocol. */
  | "malformed"
  /** No answer at all: refused, reset, no such host. */
  | "unreachable"
  | "timeout"
  | "cancelled"
  /** Not sent: a spending cap might be passed. */
  | "spending-cap";

export const endedEarly: ProviderFailure = {
  kind: "unreachable",
  detail: "it ended before the reply did",
};

export const cancelledByCaller: ProviderFailure = {
  kind: "cancelled",
  detail: "cancelled by the caller",
};

export function malformed(detail: string): ProviderFailure {
  return { kind: "malformed", detail };
}

type ErrorClass = PayloadOf<"llm.call_failed">["error_class"];

interface FailureMeaning {
  /** Its class in events. */
  readonly errorClass: ErrorClass;
  /** The same request may succeed later. */
  readonly mayPass?: true;
  /** Another provider may answer the same conversation: this one is down, busy, or does not take our key or model. */
  readonly mayAnswerElsewhere?: true;
}

const meanings: Readonly<Record<ProviderFailure["kind"], FailureMeaning>> = {
  "rate-limited": { errorClass: "rate_limit", mayPass: true, mayAnswerElsewhere: true },
  overloaded: { errorClass: "server_error", mayPass: true, mayAnswerElsewhere: true },
  "server-error": { errorClass: "server_error", mayPass: true, mayAnswerElsewhere: true },
  "context-overflow": { errorClass: "context_overflow" },
  "thinking-mismatch": { errorClass: "invalid_request" },
  "request-too-large": { errorClass: "invalid_request" },
  "invalid-request": { errorClass: "invalid_request" },
  authentication: { errorClass: "auth", mayAnswerElsewhere: true },
  permission: { errorClass: "auth", mayAnswerElsewhere: true },
  billing: { errorClass: "other", mayAnswerElsewhere: true },
  "not-found": { errorClass: "invalid_request", mayAnswerElsewhere: true },
  malformed: { errorClass: "other", mayAnswerElsewhere: true },
  unreachable: { errorClass: "network", mayPass: true, mayAnswerElsewhere: true },
  timeout: { errorClass: "network", mayPass: true, mayAnswerElsewhere: true },
  cancelled: { errorClass: "cancelled" },
  "spending-cap": { errorClass: "spending_cap" },
};

/** Whether the same request may succeed later. */
export function isRetryable({ kind }: ProviderFailure): boolean {
  return meanings[kind].mayPass === true;
}

export function mayAnswerElsewhere({ kind }: ProviderFailure): boolean {
  return meanings[kind].mayAnswerElsewhere === true;
}

/** The class of a failure in events. */
export function toErrorClass(kind: ProviderFailure["kind"]): ErrorClass {
  return meanings[kind].errorClass;
}

/** Statuses that are enough by themselves: a proxy may have written the body. */
export const kindOfStatus: ReadonlyMap<number, StatusKind> = new Map([
  [401, "authentication"],
  [402, "billing"],
  [403, "permission"],
  [404, "not-found"],
  [408, "timeout"],
  // A short lock conflict: the providers' own SDKs retry it.
  [409, "server-error"],
  [413, "request-too-large"],
  [429, "rate-limited"],
]);

export type StatusKind = Exclude<
  ProviderFailure["kind"],
  "context-overflow" | "thinking-mismatch" | "unreachable" | "cancelled" | "spending-cap"
>;

/** A failure without further figures. Only one that may pass soon says when. */
export function toFailureOf(
  kind: StatusKind,
  detail: string,
  retryAfterMs: number | undefined,
): ProviderFailure {
  const saysWhen = kind === "rate-limited" || kind === "overloaded" || kind === "server-error";
  return saysWhen ? { kind, detail, retryAfterMs } : { kind, detail };
}

/** A count in a provider's message; undefined if there is none or no number can be so large. */
export function toTokens(digits: string | undefined): number | undefined {
  const tokens = Number(digits);
  return Number.isSafeInteger(tokens) ? tokens : undefined;
}

/** The wait that the provider asks for, in seconds or as a date; undefined if absent or unreadable. */
export function readRetryAfter(
  headers: Readonly<Record<string, string>>,
  nowMs: number,
): number | undefined {
  const ms = Number(headers["retry-after-ms"] ?? "");
  if (headers["retry-after-ms"] !== undefined && Number.isFinite(ms) && ms >= 0) return ms;
  const text = headers["retry-after"]?.trim() ?? "";
  if (text === "") return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.round(seconds * 1000) : undefined;
  const at = parseHttpDate(text);
  return at === undefined ? undefined : Math.max(0, at - nowMs);
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec";

/** `Sun, 06 Nov 1994 08:49:37 GMT`, as milliseconds since 1970. */
function parseHttpDate(text: string): number | undefined {
  const match = /^\w{3}, (\d{2}) (\w{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/.exec(text);
  if (match === null) return undefined;
  const [day, , year, hour, minute, second] = match.slice(1).map(Number);
  const month = months.indexOf(match[2] ?? "?") / 3;
  if (!Number.isInteger(month) || month < 0) return undefined;
  const days = daysSinceEpoch(year ?? 0, month + 1, day ?? 0);
  return (((days * 24 + (hour ?? 0)) * 60 + (minute ?? 0)) * 60 + (second ?? 0)) * 1000;
}
