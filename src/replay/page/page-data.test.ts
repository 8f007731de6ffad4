import { expect, test } from "vitest";
import { toPageData } from "./page-data.ts";
import { makeCall, makeMissing, makeReport } from "./test-kit.ts";

const startMs = 1_800_000_000_000;

test("a session is embedded as one list per figure", () => {
  const { data, leftOut } = toPageData(makeReport(), [
    makeCall(),
    makeCall({ startMs: startMs + 360_000, thread: "helper", model: "model-b" }),
  ]);
  expect(data).toEqual({
    policies: ["steady", "adaptive"],
    best: 1,
    causes: ["lifetime expired"],
    models: ["model-a", "model-b"],
    sessions: [
      {
        id: "session-1",
        file: "a.jsonl",
        callCount: 2,
        gapsMs: [0, 360_000],
        models: [0, 1],
        threads: ["", "helper"],
        threadOf: [0, 1],
        bands: [
          [100, 100],
          [200, 200],
          [700, 700],
          [0, 0],
        ],
        outcomes: [
          { read: [0, 0], written: [0, 0], misses: [] },
          {
            read: [400, 400],
            written: [350, 350],
            misses: [
              [0, 0, 321],
              [1, 0, 321],
            ],
          },
        ],
      },
    ],
  });
  expect(leftOut).toEqual({ sessions: 0, calls: 0 });
});

test("an excerpt that several misses share is embedded once", () => {
  const call = makeMissing("Go on.");
  const { data } = toPageData(makeReport(), [makeCall(), call, call], { excerpts: true });
  expect(data.excerpts).toEqual(["Go on."]);
  expect(data.sessions[0]?.outcomes[1]?.misses).toEqual([
    [0, 0, 321],
    [1, 0, 321, 0],
    [2, 0, 321, 0],
  ]);
});

test("prompt tokens that no block accounts for are a band of their own", () => {
  const call = makeCall({ tierTokens: { T0: 100, T1: 0, T2: 0, T3: 600 } });
  const { data } = toPageData(makeReport(), [call]);
  expect(data.sessions[0]?.bands).toEqual([[100], [0], [600], [300]]);
});

test("a call without an outcome for a policy is fresh under it", () => {
  const { data } = toPageData(makeReport(), [makeCall({ outcomes: [] })]);
  expect(data.sessions[0]?.outcomes).toEqual([
    { read: [0], written: [0], misses: [] },
    { read: [0], written: [0], misses: [] },
  ]);
});

test("the 40 sessions with the most calls are embedded, 400 calls of each, and the rest is counted", () => {
  const details = Array.from({ length: 42 }, (_, session) =>
    Array.from({ length: session === 41 ? 405 : session === 0 ? 1 : 2 }, () =>
      makeCall({ sessionId: `session-${session}` }),
    ),
  ).flat();
  const { data, leftOut } = toPageData(makeReport(), details);
  expect(data.sessions).toHaveLength(40);
  expect(data.sessions[0]?.id).toBe("session-41");
  expect(data.sessions[0]?.callCount).toBe(405);
  expect(data.sessions[0]?.gapsMs).toHaveLength(400);
  expect(data.sessions[1]?.id).toBe("session-1");
  expect(data.sessions.map(({ id }) => id)).not.toContain("session-0");
  // Five of the longest, the single call of session-0 and two of session-40.
  expect(leftOut).toEqual({ sessions: 2, calls: 8 });
});
