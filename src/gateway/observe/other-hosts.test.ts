// A router's hosts keep a cache each: what a change of the host costs is not blamed on anything else.
import { expect, test } from "vitest";
import { dataOf, startWatching, type Exchange } from "./test-kit.ts";

const model = "deepseek/deepseek-v4.1-flash";
const system = { role: "system", content: "Check what you say, and answer briefly. ".repeat(300) };
const question = { role: "user", content: "What comes first?" };
const answer = { role: "assistant", content: "The beginning." };
const talks = [[question], [question, answer, { role: "user", content: "And then?" }]];

/** Two calls of a conversation, and what the second says of its miss. */
function missBetween(
  first: string | null,
  second: string | null,
  readTokens: number,
  toAnswer: (chunk: object) => Partial<Exchange>,
): readonly (string | null | undefined)[] {
  const { pass } = startWatching();
  const [, call] = [first, second].map((provider, index) =>
    pass({
      path: "/api/v1/chat/completions",
      upstream: "openrouter",
      body: { model, messages: [system, ...(talks[index] ?? [])] },
      atMs: index * 10_000,
      ...toAnswer({
        id: `gen-${index}`,
        model,
        ...(provider !== null && { provider }),
        choices: [{ index: 0, message: answer, delta: answer, finish_reason: "stop" }],
        usage: {
          prompt_tokens: 2750 + 20 * index,
          completion_tokens: 5,
          prompt_tokens_details: { cached_tokens: index * readTokens },
        },
      }),
    }),
  );
  return [call?.servedBy, call?.explanation?.cause, call?.explanation?.detail];
}

test.each([
  ["whole", (chunk: object) => ({ answer: JSON.stringify(chunk) })],
  ["streamed", (chunk: object) => dataOf([chunk, "[DONE]"])],
])("a conversation that another host answers has lost its cache to that: %s", (_name, toAnswer) => {
  expect(missBetween("DeepInfra", "Novita", 0, toAnswer)).toEqual([
    "Novita",
    "another host",
    "DeepInfra → Novita",
  ]);
  expect(missBetween("DeepInfra", "DeepInfra", 0, toAnswer)[1]).toBe("provider lost it");
  expect(missBetween("DeepInfra", null, 0, toAnswer)[1]).toBe("provider lost it");
  expect(missBetween("DeepInfra", "Novita", 2755, toAnswer)[1]).toBe("no miss");
});
