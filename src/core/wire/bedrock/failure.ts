// Why Bedrock did not answer: by the name of the exception, in a header or in a frame of a stream.
import { parseFields, textIn, type Fields } from "../../message/fields.ts";
import {
  kindOfStatus,
  malformed,
  readRetryAfter,
  toFailureOf,
  toTokens,
  type ProviderFailure,
  type StatusKind,
} from "../failure.ts";
import type { RefusedAnswer, ServerEvent } from "../protocol.ts";
import { exceptionIn, isBroken } from "../service-exceptions.ts";

export function readFailure({ status, headers, body, nowMs }: RefusedAnswer): ProviderFailure {
  const fields = parseFields(body) ?? {};
  const detail = messageIn(fields) || excerpt(body).trim() || `status ${status}`;
  const name = headers["x-amzn-errortype"] ?? textIn(fields, "__type") ?? "";
  const retryAfterMs = readRetryAfter(headers, nowMs);
  return toFailure({ name: nameOf(name), detail, status, retryAfterMs });
}

/** An exception in the middle of a stream; undefined for any other event. */
export function failureIn(event: ServerEvent): ProviderFailure | undefined {
  const exception = exceptionIn(event);
  if (exception === undefined) return undefined;
  const { name, data } = exception;
  const fields = parseFields(data) ?? {};
  const detail = messageIn(fields) || excerpt(data).trim() || name;
  if (isBroken(exception)) return malformed(detail);
  return toFailure({ name, detail, status: null, retryAfterMs: undefined });
}

/** A refusal in place of a reply, in an answer with a success status; undefined if there is none. */
export function failureInAnswer(answer: Fields): ProviderFailure | undefined {
  const detail = messageIn(answer);
  if (detail === "") return undefined;
  const name = nameOf(textIn(answer, "__type") ?? "");
  return toFailure({ name, detail, status: null, retryAfterMs: undefined });
}

/** Some services write the member with a capital. Empty for a blank one. */
function messageIn(fields: Fields): string {
  const message = textIn(fields, "message") ?? textIn(fields, "Message") ?? "";
  return message.trim() === "" ? "" : message;
}

/** `ThrottlingException:http://…` and `com.amazon.coral…#ThrottlingException` mean the same. */
function nameOf(type: string): string {
  return (type.split(":")[0] ?? "").replace(/^.*#/, "").trim();
}

export function excerpt(text: string): string {
  return text.slice(0, 200).toWellFormed();
}

interface Refusal {
  readonly name: string;
  readonly detail: string;
  /** Null within an answer that began as a success. */
  readonly status: number | null;
  readonly retryAfterMs: number | undefined;
}

function toFailure({ name, detail, status, retryAfterMs }: Refusal): ProviderFailure {
  const kind = kindOfName.get(name.toLowerCase()) ?? kindByStatus(status);
  return kind === "invalid-request"
    ? explainInvalid(detail)
    : toFailureOf(kind, detail, retryAfterMs);
}

function kindByStatus(status: number | null): StatusKind {
  if (status === null) return "server-error";
  if (status === 503) return "overloaded";
  if (status >= 500 || status === 424) return "server-error";
  return kindOfStatus.get(status) ?? (status >= 400 ? "invalid-request" : "malformed");
}

/** Frames write the first letter small. */
const kindOfName: ReadonlyMap<string, StatusKind> = new Map([
  ["validationexception", "invalid-request"],
  ["accessdeniedexception", "permission"],
  ["unrecognizedclientexception", "authentication"],
  ["invalidsignatureexception", "authentication"],
  ["incompletesignatureexception", "authentication"],
  ["missingauthenticationtokenexception", "authentication"],
  ["expiredtokenexception", "authentication"],
  ["requestexpired", "authentication"],
  ["optinrequired", "permission"],
  ["resourcenotfoundexception", "not-found"],
  ["conflictexception", "server-error"],
  ["modeltimeoutexception", "timeout"],
  ["modelerrorexception", "server-error"],
  ["modelstreamerrorexception", "server-error"],
  ["throttlingexception", "rate-limited"],
  ["servicequotaexceededexception", "rate-limited"],
  // The model is being loaded.
  ["modelnotreadyexception", "overloaded"],
  ["serviceunavailableexception", "overloaded"],
  ["internalserverexception", "server-error"],
]);

/** Bedrock's own words, or those of the model's vendor that it passes on. */
function explainInvalid(detail: string): ProviderFailure {
  const tooLong = /prompt is too long(?:: (\d+) tokens > (\d+) maximum)?/i.exec(detail);
  const isTooLong = tooLong !== null || /input is too long for requested model/i.test(detail);
  const sum = /exceed context limit: (\d+) \+ (\d+) > (\d+)/i.exec(detail);
  if (isTooLong || sum !== null) {
    return {
      kind: "context-overflow",
      detail,
      tokens: toTokens(tooLong?.[1] ?? (sum === null ? undefined : sumOf(sum))),
      tokensMax: toTokens(tooLong?.[2] ?? sum?.[3]),
    };
  }
  if (/invalid `signature` in `thinking` block/i.test(detail)) {
    return { kind: "thinking-mismatch", detail };
  }
  return { kind: "invalid-request", detail };
}

function sumOf([, input = "", output = ""]: RegExpExecArray): string {
  return String(Number(input) + Number(output));
}
