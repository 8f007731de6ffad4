// Goal: each vendor's counts arrive as it sends them in a stream. Method: the last chunks of a stream, as the `openai` package shows them.
import { expect, test } from "vitest";
import type { Reply } from "../../reply.ts";
import { chatStream } from "./stream.ts";

type Chunk = Readonly<Record<string, unknown>>;

const counts = { prompt_tokens: 9000, completion_tokens: 12, total_tokens: 9012 };
const stop = { index: 0, delta: {}, finish_reason: "stop" };

/** Uncached, read, written for five minutes; whether the cache is reported. */
type Expected = readonly [number, number, number, boolean];

test.each<readonly [string, readonly Chunk[], Expected]>([
  [
    "DeepSeek: hits and misses beside the total",
    [
      {
        choices: [],
        usage: { ...counts, prompt_cache_hit_tokens: 8192, prompt_cache_miss_tokens: 808 },
      },
    ],
    [808, 8192, 0, true],
  ],
  [
    "Kimi: in the choice of the last chunk, after one without the cached count",
    [
      { choices: [{ ...stop, finish_reason: null, usage: counts }] },
      { choices: [{ ...stop, usage: { ...counts, cached_tokens: 8192 } }] },
    ],
    [808, 8192, 0, true],
  ],
  [
    "Kimi: the cached count stays if a later chunk repeats the totals alone",
    [
      { choices: [{ ...stop, usage: { ...counts, cached_tokens: 8192 } }] },
      { choices: [], usage: { ...counts, cached_tokens: null } },
    ],
    [808, 8192, 0, true],
  ],
  [
    "Qwen: reads and writes are disjoint parts of the prompt",
    [
      {
        choices: [],
        usage: {
          ...counts,
          prompt_tokens_details: {
            cached_tokens: 6000,
            cache_creation_input_tokens: 2000,
            cache_creation: { ephemeral_5m_input_tokens: 2000 },
            cache_type: "ephemeral",
            text_tokens: 9000,
          },
        },
      },
    ],
    [1000, 6000, 2000, true],
  ],
  [
    "Mistral: a count of its own, which may be absent",
    [{ choices: [], usage: { ...counts, num_cached_tokens: 8960 } }],
    [40, 8960, 0, true],
  ],
  [
    "Mistral: without it, the cache is unknown",
    [{ choices: [], usage: counts }],
    [9000, 0, 0, false],
  ],
  [
    "Groq: in a member of its own",
    [
      {
        choices: [stop],
        x_groq: { usage: { ...counts, prompt_tokens_details: { cached_tokens: 4500 } } },
      },
    ],
    [4500, 4500, 0, true],
  ],
  [
    "vLLM: without its option it says nothing about its cache",
    [{ choices: [], usage: { ...counts, prompt_tokens_details: null } }],
    [9000, 0, 0, false],
  ],
  ["Ollama: nothing about its cache", [{ choices: [], usage: counts }], [9000, 0, 0, false]],
  [
    "llama.cpp: timings beside the usage",
    [
      {
        choices: [],
        usage: counts,
        timings: { cache_n: 8000, prompt_n: 1000, prompt_ms: 412.5, predicted_n: 12 },
      },
    ],
    [1000, 8000, 0, true],
  ],
  [
    "llama.cpp: timings alone",
    [
      {
        choices: [stop],
        timings: { cache_n: 8000, prompt_n: 1000, prompt_ms: 412.5, predicted_n: 12 },
      },
    ],
    [1000, 8000, 0, true],
  ],
])("%s", (_name, chunks, [uncached, read, written, reportsCache]) => {
  const { usage } = replyOf(chunks);
  expect(usage).toMatchObject({
    usage: {
      uncachedTokens: uncached,
      cacheReadTokens: read,
      cacheWriteTokens: written === 0 ? {} : { "5m": written },
      outputTokens: 12,
    },
    isReported: true,
    reportsCache,
    warnings: [],
  });
});

test("a server that says how long it read the prompt is taken at its word", () => {
  const timings = { cache_n: 8000, prompt_n: 1000, prompt_ms: 412.5, predicted_n: 12 };
  expect(replyOf([{ choices: [stop], timings }]).usage.prefillMs).toBe(412.5);
  const odd = { ...timings, prompt_ms: "long" };
  expect(replyOf([{ choices: [stop], timings: odd }]).usage).not.toHaveProperty("prefillMs");
  expect(replyOf([{ choices: [], usage: counts }]).usage).not.toHaveProperty("prefillMs");
});

function replyOf(chunks: readonly Chunk[]): Reply {
  const begun = { choices: [{ index: 0, delta: { content: "Noon." }, finish_reason: null }] };
  let state = chatStream.start;
  for (const chunk of [begun, ...chunks]) {
    const data = JSON.stringify({ id: "1", object: "chat.completion.chunk", ...chunk });
    [state] = chatStream.step(state, { event: undefined, data });
  }
  const reply = chatStream.finish(state);
  if (reply.kind !== "reply") throw new Error(reply.kind);
  return reply;
}
