// Goal: a gateway's refusals are taken for the provider's own. Method: what we write, read as that provider's answers are.
import { describe, expect, test } from "vitest";
import { protocols } from "./protocols.ts";
import { refusalKinds } from "./refusal.ts";

/** Where a provider has no word of its own, the nearest one. */
const nearest: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "anthropic-messages": { billing: "rate-limited" },
  gemini: { billing: "rate-limited", "request-too-large": "invalid-request" },
  "bedrock-converse": { billing: "rate-limited", "request-too-large": "invalid-request" },
  "bedrock-invoke": { billing: "rate-limited", "request-too-large": "invalid-request" },
  "vertex-anthropic": { billing: "rate-limited", overloaded: "server-error" },
};

describe.each(protocols)("$name", (protocol) => {
  test.each(refusalKinds)("a refusal for %s is read as one", (kind) => {
    const refusal = { kind, message: "the words", retryAfterSeconds: null };
    const failure = protocol.readFailure({ ...protocol.encodeRefusal(refusal), nowMs: 0 });
    expect(failure).toMatchObject({
      kind: nearest[protocol.name]?.[kind] ?? kind,
      detail: "the words",
    });
  });

  test("says when to come again", () => {
    const refusal = { kind: "rate-limited", message: "later", retryAfterSeconds: 7 } as const;
    const answer = protocol.encodeRefusal(refusal);
    expect(answer.headers["retry-after"]).toBe("7");
    expect(protocol.readFailure({ ...answer, nowMs: 0 })).toMatchObject({ retryAfterMs: 7000 });
  });
});
