import { expect, test } from "vitest";
import { StrataError } from "../strata-error.ts";
import { anthropicMessages } from "./anthropic-messages/index.ts";
import { assemblyOf, haiku, planOf } from "./anthropic-messages/test-kit.ts";
import { checkOptions } from "./check-options.ts";
import { openaiChat } from "./openai/chat/index.ts";
import { openaiResponses } from "./openai/responses/index.ts";
import type { CallOptions } from "./protocol.ts";

const usual: CallOptions = { outputTokensMax: 100, stream: true };

test.each([
  [{ outputTokensMax: NaN }, "outputTokensMax is NaN, but must be a whole number of tokens from 0"],
  [{ outputTokensMax: -1 }, "outputTokensMax is -1, but must be a whole number of tokens from 0"],
  [{ outputTokensMax: 1.5 }, "outputTokensMax is 1.5, but must be a whole number of tokens from 0"],
  [{ outputTokensMax: Infinity }, "outputTokensMax is Infinity, but must be a whole number"],
  [{ temperature: NaN }, "temperature is NaN, but must be a finite number"],
])("%j is refused before it makes an unreadable request", (options, problem) => {
  expect(() => checkOptions({ ...usual, ...options })).toThrow(problem);
});

test("no reply at all may be asked for, which only warms the cache", () => {
  expect(() => checkOptions({ outputTokensMax: 0, stream: false, temperature: 0 })).not.toThrow();
});

test.each([anthropicMessages, openaiChat, openaiResponses])(
  "$name never writes a number that is none",
  (protocol) => {
    const call = { assembly: assemblyOf({}), plan: planOf(), model: haiku };
    expect(() => protocol.encode({ ...call, options: { ...usual, outputTokensMax: NaN } })).toThrow(
      StrataError,
    );
  },
);
