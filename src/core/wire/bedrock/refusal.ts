// A gateway's own refusal as an exception of Bedrock.
import {
  toRefusedAnswer,
  type EncodedRefusal,
  type RefusalToEncode,
  type RefusalWords,
} from "../refusal.ts";

export function encodeRefusal(refusal: RefusalToEncode): EncodedRefusal {
  const { status, word } = words[refusal.kind];
  const body = { message: refusal.message };
  return toRefusedAnswer(refusal, status, body, { "x-amzn-errortype": word });
}

const words: RefusalWords<string> = {
  authentication: { status: 403, word: "UnrecognizedClientException" },
  permission: { status: 403, word: "AccessDeniedException" },
  // Clients repeat a throttled request; what is over a quota they do not.
  billing: { status: 400, word: "ServiceQuotaExceededException" },
  "rate-limited": { status: 429, word: "ThrottlingException" },
  "invalid-request": { status: 400, word: "ValidationException" },
  "request-too-large": { status: 413, word: "ValidationException" },
  overloaded: { status: 503, word: "ServiceUnavailableException" },
};
