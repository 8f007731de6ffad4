import { expect, test } from "vitest";
import { readFailure } from "./failure.ts";

function failure(status: number, type: string, message: string, more = {}): unknown {
  const headers = { "x-amzn-errortype": type, ...more };
  return readFailure({ status, headers, body: JSON.stringify({ message }), nowMs: 0 });
}

test.each([
  [400, "ValidationException", "invalid-request"],
  [403, "AccessDeniedException", "permission"],
  [403, "InvalidSignatureException", "authentication"],
  [403, "ExpiredTokenException", "authentication"],
  [403, "UnrecognizedClientException:http://internal.amazon.com/", "authentication"],
  [403, "MissingAuthenticationTokenException", "authentication"],
  [404, "ResourceNotFoundException", "not-found"],
  [408, "ModelTimeoutException", "timeout"],
  [424, "ModelErrorException", "server-error"],
  [429, "ThrottlingException", "rate-limited"],
  [429, "ModelNotReadyException", "overloaded"],
  [400, "ServiceQuotaExceededException", "rate-limited"],
  [500, "InternalServerException", "server-error"],
  [503, "ServiceUnavailableException", "overloaded"],
])("status %i with %s", (status, type, kind) => {
  expect(failure(status, type, "Told you.")).toMatchObject({ kind, detail: "Told you." });
});

test.each([
  [401, "authentication"],
  [402, "billing"],
  [413, "request-too-large"],
  [418, "invalid-request"],
  [502, "server-error"],
  [503, "overloaded"],
])("status %i from a gateway, without a name", (status, kind) => {
  const refused = readFailure({ status, headers: {}, body: "<html>", nowMs: 0 });
  expect(refused).toMatchObject({ kind, detail: "<html>" });
});

test("a prompt that is too long, in the words of Bedrock and of the model's vendor", () => {
  const type = "ValidationException";
  expect(failure(400, type, "Input is too long for requested model.")).toMatchObject({
    kind: "context-overflow",
    tokens: undefined,
  });
  const message =
    "The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum";
  expect(failure(400, type, message)).toMatchObject({
    kind: "context-overflow",
    tokens: 210_000,
    tokensMax: 200_000,
  });
  const sum = "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000";
  expect(failure(400, type, sum)).toMatchObject({ tokens: 210_000, tokensMax: 200_000 });
});

test("thinking that does not fit its prefix", () => {
  const message = "messages.1.content.0: Invalid `signature` in `thinking` block";
  expect(failure(400, "ValidationException", message)).toMatchObject({ kind: "thinking-mismatch" });
});

test("the time to wait, where a header says it", () => {
  const more = { "retry-after": "7" };
  expect(failure(429, "ThrottlingException", "Slow down.", more)).toMatchObject({
    retryAfterMs: 7000,
  });
});

test("the message with a capital, and the name in the body", () => {
  const body = '{"__type":"com.amazon#AccessDeniedException","Message":"No."}';
  expect(readFailure({ status: 403, headers: {}, body, nowMs: 0 })).toEqual({
    kind: "permission",
    detail: "No.",
  });
});
