// A gateway's own refusal in the words of the OpenAI protocols.
import {
  toRefusedAnswer,
  withoutRetry,
  type EncodedRefusal,
  type RefusalToEncode,
  type RefusalWords,
} from "../refusal.ts";

export function encodeRefusal(refusal: RefusalToEncode): EncodedRefusal {
  const {
    status,
    word: [type, code],
  } = words[refusal.kind];
  const body = { error: { message: refusal.message, type, param: null, code } };
  return toRefusedAnswer(refusal, status, body, withoutRetry(refusal));
}

/** A type and a code. */
const words: RefusalWords<readonly [string, string | null]> = {
  authentication: { status: 401, word: ["invalid_request_error", "invalid_api_key"] },
  permission: { status: 403, word: ["invalid_request_error", null] },
  billing: { status: 429, word: ["insufficient_quota", "insufficient_quota"] },
  "rate-limited": { status: 429, word: ["requests", "rate_limit_exceeded"] },
  "invalid-request": { status: 400, word: ["invalid_request_error", null] },
  "request-too-large": { status: 413, word: ["invalid_request_error", null] },
  overloaded: { status: 503, word: ["server_error", "server_is_overloaded"] },
};
