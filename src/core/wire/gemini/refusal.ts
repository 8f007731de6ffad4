// A gateway's own refusal in the words of Google's APIs.
import {
  toRefusedAnswer,
  type EncodedRefusal,
  type RefusalToEncode,
  type RefusalWords,
} from "../refusal.ts";

export function encodeRefusal(refusal: RefusalToEncode): EncodedRefusal {
  const { retryAfterSeconds, message } = refusal;
  const { status: code, word: status } = words[refusal.kind];
  // Clients of these APIs read the wait from the body.
  const details =
    retryAfterSeconds === null
      ? []
      : [
          {
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            retryDelay: `${retryAfterSeconds}s`,
          },
        ];
  return toRefusedAnswer(refusal, code, { error: { code, message, status, details } });
}

const words: RefusalWords<string> = {
  authentication: { status: 401, word: "UNAUTHENTICATED" },
  permission: { status: 403, word: "PERMISSION_DENIED" },
  billing: { status: 429, word: "RESOURCE_EXHAUSTED" },
  "rate-limited": { status: 429, word: "RESOURCE_EXHAUSTED" },
  "invalid-request": { status: 400, word: "INVALID_ARGUMENT" },
  "request-too-large": { status: 413, word: "INVALID_ARGUMENT" },
  overloaded: { status: 503, word: "UNAVAILABLE" },
};
