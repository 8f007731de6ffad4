// What a call would have cost under other policies: by their own accounts of the conversation, at the same times.
import { expect, test } from "vitest";
import { coded, next, answer, opening, saidInStream, startWatching, usage } from "./test-kit.ts";

/** $3 per million tokens; reads 0.1, writes 1.25 for five minutes and 2 for an hour; $15 for output. */
const outputPicoUsd = 20n * 15_000_000n;

test("a pause of ten minutes loses the prefix of a five-minute policy, not that of an hour", () => {
  const { pass } = startWatching();
  const calls = [
    { messages: [opening], counts: usage(0, 4000, 0), atMs: 0 },
    { messages: [opening, answer, next], counts: usage(4000, 100, 0), atMs: 60_000 },
    { messages: [opening, answer, next, answer, next], counts: usage(0, 4200, 0), atMs: 660_000 },
  ].map(({ messages, counts, atMs }, index) =>
    pass({ ...coded(messages), ...saidInStream(["x"], counts, `m${index}`), atMs }),
  );
  const [first, second, third] = calls.map((call) =>
    Object.fromEntries(
      (call?.otherPolicies ?? []).map(({ policy, costPicoUsd }) => [
        policy,
        costPicoUsd - outputPicoUsd,
      ]),
    ),
  );
  // 4,000 tokens written for five minutes or for an hour, or paid as they are.
  expect(first).toEqual({
    "tail-5m": 15_000_000_000n,
    "tail-1h": 24_000_000_000n,
    none: 12_000_000_000n,
  });
  // Both read the 4,000 and write what is new; how much that is of the 100, is estimated.
  expect(second?.["tail-5m"]).toBeLessThan(1_600_000_000n);
  expect(second?.["tail-1h"]).toBeLessThan(1_900_000_000n);
  expect(second?.["none"]).toBe(12_300_000_000n);
  expect(third?.["tail-5m"]).toBe(15_750_000_000n);
  expect(third?.["tail-1h"]).toBeLessThan(1_900_000_000n);
  expect(third?.["none"]).toBe(12_600_000_000n);
  expect(calls[2]?.plainCostPicoUsd).toBe(12_600_000_000n + outputPicoUsd);
});

test("a provider with one lifetime has nothing to choose but no caching at all", () => {
  const { pass } = startWatching();
  const call = pass({
    path: "/v1/chat/completions",
    upstream: "openai",
    body: { model: "gpt-5.5", messages: [{ role: "user", content: "Hello." }] },
    answer: JSON.stringify({
      id: "c",
      model: "gpt-5.5",
      choices: [
        { index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" },
      ],
      usage: {
        prompt_tokens: 2000,
        completion_tokens: 0,
        prompt_tokens_details: { cached_tokens: 1920 },
      },
    }),
  });
  expect(call?.otherPolicies).toEqual([{ policy: "none", costPicoUsd: call?.plainCostPicoUsd }]);
});
