import { describe, expect, test } from "vitest";
import { createCtxKvReader, createPublishedKvReader } from "./read-ctx-kv.ts";
import { promptsIn, recordingsOf, requestsIn, skippedIn } from "../test-kit.ts";

const header = {
  kind: "kvtrace",
  format: "ctx-kv/1",
  id: "trace_1",
  block_size: 64,
  tool_tokens: 130,
  system_tokens: 70,
};
const request = (more: object): object => ({
  kind: "request",
  agent: null,
  t: 1.5,
  api_time: 2.25,
  model: "claude-opus-4-5-20251101",
  out: 7,
  ...more,
});
const recorded = recordingsOf(createCtxKvReader, [
  header,
  request({
    in: 330,
    keep: 0,
    append: [
      [1, 4],
      [9, 1],
    ],
  }),
  { kind: "subagent", agent: "agent_001", tool_tokens: 64, system_tokens: 0 },
  request({ agent: "agent_001", in: 128, keep: 0, append: [[20, 2]] }),
  request({ in: 400, keep: 4, append: [[11, 2]], t: 60 }),
]);

describe("a ctx-kv session", () => {
  test("gives pieces by their numbers, in tiers by the sizes of tools and system", () => {
    expect(recorded[0]).toMatchObject({
      type: "session",
      session: { id: "trace_1", format: "ctx-kv/1", wire: null, blocks: "hashed pieces" },
    });
    expect(
      promptsIn(recorded)[0]?.map(({ hash, tokens, tier, role }) => [hash, tokens, tier, role]),
    ).toEqual([
      ["kv:1", 64, "T0", "tools"],
      ["kv:2", 64, "T0", "tools"],
      ["kv:3", 64, "T1", "system"],
      ["kv:4", 64, "T3", "user"],
      ["kv:9", 64, "T3", "user"],
    ]);
  });

  test("keeps pieces per agent, with what is over a whole piece as the remainder", () => {
    expect(
      requestsIn(recorded).map(({ thread, keep, append, remainderTokens }) => [
        thread,
        keep,
        append.length,
        remainderTokens,
      ]),
    ).toEqual([
      ["", 0, 5, 10],
      ["agent_001", 0, 2, 0],
      ["", 4, 2, 16],
    ]);
    expect(promptsIn(recorded)[1]?.map(({ tier }) => tier)).toEqual(["T0", "T3"]);
  });

  test("counts time in milliseconds, and has no usage because the file has no cache counters", () => {
    expect(
      requestsIn(recorded).map(({ startMs, endMs, usage, markers }) => [
        startMs,
        endMs,
        usage,
        markers,
      ]),
    ).toEqual([
      [1500, 3750, null, null],
      [1500, 3750, null, null],
      [60_000, 62_250, null, null],
    ]);
  });

  test("impossible numbers are skipped and named", () => {
    const broken = recordingsOf(createCtxKvReader, [
      request({ in: 1, keep: 0, append: [] }),
      header,
      request({ in: 64, keep: 1, append: [[1, 1]] }),
      request({ in: 64, keep: 0, append: [[1, 1e12]] }),
      request({ keep: 0, append: [[1, 1]] }),
      { kind: "other" },
      request({ in: 64, keep: 0, append: [[1, { toString: null }]] }),
    ]);
    expect(skippedIn(broken)).toEqual([
      "1: it stands before the header",
      "3: it is not a request of this format",
      "4: it is not a request of this format",
      "5: it is not a request of this format",
      "6: its kind is not known",
      "7: it is not a request of this format",
    ]);
  });
});

const raw = (more: object): object => ({
  t: 1.5,
  type: "n",
  model: "claude-opus-4-5-20251101",
  out: 7,
  api_time: 2.25,
  ...more,
});

test("a trace as kv-cache-tester publishes it gives the same requests as the converted one", () => {
  const published = recordingsOf(createPublishedKvReader, [
    {
      id: "trace_1",
      block_size: 64,
      hash_id_scope: "local",
      tool_tokens: 130,
      system_tokens: 70,
      requests: [
        raw({ in: 330, hash_ids: [1, 2, 3, 4, 9] }),
        {
          t: 1,
          type: "subagent",
          agent_id: "agent_001",
          tool_tokens: 64,
          system_tokens: 0,
          requests: [
            raw({
              t: 0.5,
              in: 128,
              hash_ids: [20, 21],
            }),
          ],
        },
        raw({ in: 400, t: 60, hash_ids: [1, 2, 3, 4, 11, 12] }),
      ],
    },
  ]);
  expect(published).toEqual(recorded);
  const broken = recordingsOf(createPublishedKvReader, [
    { id: "b", block_size: 64, requests: [{ type: "n", in: 1, hash_ids: ["x"] }, null] },
  ]);
  expect(skippedIn(broken)).toEqual([
    "1: a request is not of this format",
    "1: a request is not of this format",
  ]);
});
