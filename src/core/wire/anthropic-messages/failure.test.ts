import { describe, expect, test } from "vitest";
import { readFailure, toFailure } from "./failure.ts";

const nowMs = 784_111_770_000;

function refuse(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return readFailure({ status, headers, body: JSON.stringify(body), nowMs });
}

function errorOf(type: string, message: string) {
  return { type: "error", error: { type, message }, request_id: "req_1" };
}

describe("a refused request", () => {
  test.each([
    [400, "invalid_request_error", "invalid-request"],
    [401, "authentication_error", "authentication"],
    [402, "billing_error", "billing"],
    [403, "permission_error", "permission"],
    [404, "not_found_error", "not-found"],
    [408, "something_new", "timeout"],
    [413, "request_too_large", "request-too-large"],
    [422, "something_new", "invalid-request"],
    [400, "billing_error", "billing"],
  ])("with status %i and type %s is %s", (status, type, kind) => {
    expect(refuse(status, errorOf(type, "No."))).toEqual({ kind, detail: "No." });
  });

  test.each([
    [409, "conflict_error", "server-error"],
    [429, "rate_limit_error", "rate-limited"],
    [500, "api_error", "server-error"],
    [502, "something_new", "server-error"],
    [504, "timeout_error", "server-error"],
    [529, "overloaded_error", "overloaded"],
    [503, "overloaded_error", "overloaded"],
    [429, "invalid_request_error", "rate-limited"],
    [500, "invalid_request_error", "server-error"],
  ])("with status %i and type %s is %s and may be repeated", (status, type, kind) => {
    expect(refuse(status, errorOf(type, "Later."), { "retry-after": "2" })).toEqual({
      kind,
      detail: "Later.",
      retryAfterMs: 2000,
    });
  });

  test("may say until when to wait by a date, or not at all", () => {
    const body = errorOf("rate_limit_error", "Later.");
    const date = { "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" };
    expect(refuse(429, body, date)).toMatchObject({ retryAfterMs: 7000 });
    expect(refuse(429, body)).toMatchObject({ retryAfterMs: undefined });
  });

  test.each([
    ["prompt is too long: 213462 tokens > 200000 maximum", 213_462, 200_000],
    ["prompt is too long", undefined, undefined],
    [
      "input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length or `max_tokens` and try again",
      208_059,
      200_000,
    ],
  ])("for its length says by how much: %s", (message, tokens, tokensMax) => {
    expect(refuse(400, errorOf("invalid_request_error", message))).toEqual({
      kind: "context-overflow",
      detail: message,
      tokens,
      tokensMax,
    });
  });

  test("with a blank message shows the body or the status", () => {
    const refused = { status: 403, headers: {}, nowMs: 0 };
    const body = '{"error":{"message":" "}}';
    expect(readFailure({ ...refused, body }).detail).toBe(body);
    expect(readFailure({ ...refused, body: " \n" }).detail).toBe("status 403");
  });

  test("for a thinking block whose prefix changed is known", () => {
    const message =
      'messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';
    expect(refuse(400, errorOf("invalid_request_error", message))).toEqual({
      kind: "thinking-mismatch",
      detail: message,
    });
  });

  test.each([
    [502, "<html>Bad Gateway</html>", "server-error", "<html>Bad Gateway</html>"],
    [400, "x".repeat(300), "invalid-request", "x".repeat(200)],
    [401, "", "authentication", "status 401"],
    [500, '{"error":null}', "server-error", '{"error":null}'],
    [404, '["no"]', "not-found", '["no"]'],
    [302, "moved", "malformed", "moved"],
  ])("whose answer is no error body goes by its status: %i", (status, body, kind, detail) => {
    expect(readFailure({ status, headers: {}, body, nowMs })).toMatchObject({ kind, detail });
  });
});

describe("an error in a stream", () => {
  test.each([
    [errorOf("overloaded_error", "Overloaded"), "overloaded", "Overloaded"],
    [errorOf("rate_limit_error", "Later."), "rate-limited", "Later."],
    [errorOf("something_new", "Odd."), "server-error", "Odd."],
    [{ type: "error", error: { type: "api_error" } }, "server-error", "api_error"],
    [{ type: "error" }, "server-error", "an error without a message"],
  ])("goes by its type", (fields, kind, detail) => {
    expect(toFailure(fields)).toMatchObject({ kind, detail });
  });
});
