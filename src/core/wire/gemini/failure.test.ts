import { describe, expect, test } from "vitest";
import { failureIn, readFailure } from "./failure.ts";

function answer(status: number, body: string, headers: Record<string, string> = {}) {
  return { status, headers, body, nowMs: 0 };
}

function error(code: number, status: string, message: string, details: readonly object[] = []) {
  return JSON.stringify({ error: { code, message, status, details } });
}

function retryIn(retryDelay: string): readonly object[] {
  return [
    { "@type": "type.googleapis.com/google.rpc.Help" },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay },
  ];
}

const badKey = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }];

describe("a refused request", () => {
  test.each([
    [400, error(400, "INVALID_ARGUMENT", "Unknown name."), "invalid-request"],
    [400, error(400, "FAILED_PRECONDITION", "Not there."), "invalid-request"],
    [400, error(400, "INVALID_ARGUMENT", "API key not valid.", badKey), "authentication"],
    [
      400,
      error(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."),
      "request-too-large",
    ],
    [401, error(401, "UNAUTHENTICATED", "Expected OAuth 2."), "authentication"],
    [403, error(403, "PERMISSION_DENIED", "No."), "permission"],
    [404, error(404, "NOT_FOUND", "models/x is not found."), "not-found"],
    [409, error(409, "ABORTED", "Conflict."), "server-error"],
    [429, error(429, "RESOURCE_EXHAUSTED", "Quota."), "rate-limited"],
    [500, error(500, "INTERNAL", "Oh."), "server-error"],
    [503, error(503, "UNAVAILABLE", "The model is overloaded."), "overloaded"],
    [504, error(504, "DEADLINE_EXCEEDED", "Too slow."), "server-error"],
    [503, "<html>", "overloaded"],
    [502, "", "server-error"],
    [404, "not here", "not-found"],
    [400, "[]", "invalid-request"],
    [418, `[${error(418, "", "Tea.")}]`, "invalid-request"],
  ])("with %i and %s is %s", (status, body, kind) => {
    expect(readFailure(answer(status, body)).kind).toBe(kind);
  });

  test("in a list, or without a message, still says why", () => {
    const body = `[${error(403, "PERMISSION_DENIED", "No.")}]`;
    expect(readFailure(answer(403, body)).detail).toBe("No.");
    expect(readFailure(answer(403, error(403, "PERMISSION_DENIED", ""))).detail).toBe(
      "PERMISSION_DENIED",
    );
    expect(readFailure(answer(502, "")).detail).toBe("status 502");
  });

  test("says in its details when to come again", () => {
    const waits = ["34s", "0.5s", "34.074824224s", "soon", "-1s"].map((delay) =>
      readFailure(answer(429, error(429, "RESOURCE_EXHAUSTED", "Quota.", retryIn(delay)))),
    );
    expect(waits.map((each) => "retryAfterMs" in each && each.retryAfterMs)).toEqual([
      34_000,
      500,
      34_075,
      undefined,
      undefined,
    ]);
    const headers = { "retry-after": "2" };
    expect(readFailure(answer(429, error(429, "RESOURCE_EXHAUSTED", "Q."), headers))).toMatchObject(
      { retryAfterMs: 2000 },
    );
  });

  test("because the prompt is too long says how long it is", () => {
    const text =
      "The input token count (1048599) exceeds the maximum number of tokens allowed (1048575).";
    expect(readFailure(answer(400, error(400, "INVALID_ARGUMENT", text)))).toEqual({
      kind: "context-overflow",
      detail: text,
      tokens: 1_048_599,
      tokensMax: 1_048_575,
    });
    const short = "The input token count exceeds the maximum number of tokens allowed (32768).";
    expect(readFailure(answer(400, error(400, "INVALID_ARGUMENT", short)))).toMatchObject({
      kind: "context-overflow",
      tokens: undefined,
      tokensMax: 32_768,
    });
    expect(readFailure(answer(429, error(429, "RESOURCE_EXHAUSTED", text))).kind).toBe(
      "rate-limited",
    );
  });

  test.each([
    "Function call is missing a thought_signature in functionCall parts. This is required.",
    "Invalid thought signature",
    "Corrupted thought signature",
    "Unable to decode thoughtSignature.",
  ])("because of a signature is a mismatch of thinking: %s", (message) => {
    expect(readFailure(answer(400, error(400, "INVALID_ARGUMENT", message)))).toEqual({
      kind: "thinking-mismatch",
      detail: message,
    });
  });
});

function failureOf(reported: unknown) {
  return failureIn({ error: reported });
}

test("a failure in place of a reply has the status that it names", () => {
  expect(failureOf({ code: 503, message: "Busy." })).toMatchObject({ kind: "overloaded" });
  expect(failureOf({ code: 400, message: "No." })).toMatchObject({ kind: "invalid-request" });
  expect(failureOf("upstream is gone")).toMatchObject({
    kind: "server-error",
    detail: "upstream is gone",
  });
  expect(failureIn({ candidates: [] })).toBeUndefined();
  expect(failureOf(null)).toBeUndefined();
});
