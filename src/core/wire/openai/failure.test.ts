import { describe, expect, test } from "vitest";
import { failureIn, readOpenaiFailure } from "./failure.ts";

function answer(status: number, body: string, headers: Record<string, string> = {}) {
  return { status, headers, body, nowMs: 0 };
}

function error(message: string, more: object = {}): string {
  return JSON.stringify({
    error: { message, type: "invalid_request_error", param: null, code: null, ...more },
  });
}

describe("a refused request", () => {
  test.each([
    [400, error("Missing required parameter: 'model'."), "invalid-request"],
    [401, error("Incorrect API key provided.", { code: "invalid_api_key" }), "authentication"],
    [402, error("Payment required."), "billing"],
    [403, error("Country not supported."), "permission"],
    [404, error("The model does not exist.", { code: "model_not_found" }), "not-found"],
    [413, error("Too large."), "request-too-large"],
    [422, error("Unprocessable."), "invalid-request"],
    [
      429,
      error("Rate limit reached for requests.", { code: "rate_limit_exceeded" }),
      "rate-limited",
    ],
    [429, error("You exceeded your current quota.", { code: "insufficient_quota" }), "billing"],
    [429, error("Limit reached: prompt too long for this minute."), "rate-limited"],
    [500, error("The server had an error.", { code: "server_error" }), "server-error"],
    [503, error("Overloaded.", { code: "server_is_overloaded" }), "overloaded"],
    [529, error("Overloaded."), "overloaded"],
    [408, "", "timeout"],
    [409, error("Conflict."), "server-error"],
    [502, "<html>Bad gateway</html>", "server-error"],
    [503, "", "overloaded"],
    [400, "[1]", "invalid-request"],
  ])("with %i and %s is %s", (status, body, kind) => {
    expect(readOpenaiFailure(answer(status, body)).kind).toBe(kind);
  });

  test("has the provider's message, or the status and the body's beginning", () => {
    expect(readOpenaiFailure(answer(400, error("No.")))).toEqual({
      kind: "invalid-request",
      detail: "No.",
    });
    expect(readOpenaiFailure(answer(502, "<html>"))).toEqual({
      kind: "server-error",
      detail: "status 502: <html>",
      retryAfterMs: undefined,
    });
    expect(readOpenaiFailure(answer(500, " "))).toMatchObject({
      detail: "status 500 without a reason",
    });
    expect(readOpenaiFailure(answer(400, '{"error":"plain words"}')).detail).toBe("plain words");
    expect(readOpenaiFailure(answer(400, '{"error":{"code":7}}')).detail).toBe('{"code":7}');
  });

  test("carries the provider's wish when to come again", () => {
    expect(readOpenaiFailure(answer(429, error("Wait."), { "retry-after": "2" }))).toEqual({
      kind: "rate-limited",
      detail: "Wait.",
      retryAfterMs: 2000,
    });
  });

  test.each([
    [
      error(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130512 tokens. Please reduce the length of the messages.",
        { code: "context_length_exceeded", param: "messages" },
      ),
      130_512,
      128_000,
    ],
    [
      error(
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        { code: "context_length_exceeded", param: "input" },
      ),
      undefined,
      undefined,
    ],
    [error("Input is too long for requested model"), undefined, undefined],
    ['{"error":{"code":"1261","message":"Prompt too long"}}', undefined, undefined],
    ['{"code":"1261","message":"Prompt too long"}', undefined, undefined],
    [error("context window exceeds limit"), undefined, undefined],
    [
      error(
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      ),
      1_200_000,
      1_048_576,
    ],
  ])(
    "of too many tokens is an overflow with the reported numbers: %s",
    (body, tokens, tokensMax) => {
      expect(readOpenaiFailure(answer(400, body))).toMatchObject({
        kind: "context-overflow",
        tokens,
        tokensMax,
      });
    },
  );
});

describe("a failure inside an answer", () => {
  test.each([
    [{ error: { code: "rate_limit_exceeded", message: "Wait." } }, "rate-limited"],
    [{ error: { code: 502, message: "Upstream." } }, "server-error"],
    [{ error: { code: 1113, message: "Balance." } }, "invalid-request"],
    [{ error: { type: "overloaded_error", message: "Busy." } }, "overloaded"],
    [{ type: "error", code: "server_error", message: "Sorry." }, "server-error"],
    [{ error: { code: "invalid_prompt", message: "No." } }, "invalid-request"],
  ])("%j is %s", (fields, kind) => {
    expect(failureIn(fields)?.kind).toBe(kind);
  });

  test("with a blank message shows what else it says", () => {
    const blank = failureIn({ error: { code: "server_error", message: " " } });
    expect(blank?.detail).toBe('{"code":"server_error","message":" "}');
  });

  test("is not seen where there is none", () => {
    expect(failureIn({ id: "x", error: null })).toBeUndefined();
  });
});
