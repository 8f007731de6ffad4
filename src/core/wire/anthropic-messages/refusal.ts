// A gateway's own refusal in the words of the Messages API.
import {
  toRefusedAnswer,
  withoutRetry,
  type EncodedRefusal,
  type RefusalToEncode,
  type RefusalWords,
} from "../refusal.ts";

export function encodeRefusal(refusal: RefusalToEncode): EncodedRefusal {
  const { status, word: type } = words[refusal.kind];
  const body = { type: "error", error: { type, message: refusal.message } };
  return toRefusedAnswer(refusal, status, body, withoutRetry(refusal));
}

/** Spending limits come with the status of other limits, for which clients have a place. */
const words: RefusalWords<string> = {
  authentication: { status: 401, word: "authentication_error" },
  permission: { status: 403, word: "permission_error" },
  billing: { status: 429, word: "rate_limit_error" },
  "rate-limited": { status: 429, word: "rate_limit_error" },
  "invalid-request": { status: 400, word: "invalid_request_error" },
  "request-too-large": { status: 413, word: "request_too_large" },
  overloaded: { status: 529, word: "overloaded_error" },
};
