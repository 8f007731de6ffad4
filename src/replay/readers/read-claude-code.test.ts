import { describe, expect, test } from "vitest";
import type { Recorded } from "../recording.ts";
import type { Run } from "./line-reader.ts";
import { createRun } from "./run.ts";
import { createClaudeCodeReader } from "./read-claude-code.ts";
import { excerptsIn, promptsIn, recordingsOf, requestsIn, skippedIn } from "./test-kit.ts";

const at = (second: number): string => `2026-02-01T10:00:${String(second).padStart(2, "0")}.000Z`;
const line = (uuid: string, parentUuid: string | null, second: number, more: object): object => ({
  uuid,
  parentUuid,
  sessionId: "s1",
  timestamp: at(second),
  isSidechain: false,
  ...more,
});
const user = (
  uuid: string,
  parent: string | null,
  second: number,
  content: unknown,
  more: object = {},
): object =>
  line(uuid, parent, second, { type: "user", message: { role: "user", content }, ...more });
const piece = (
  uuid: string,
  parent: string | null,
  second: number,
  id: string,
  block: object,
  more: object = {},
): object =>
  line(uuid, parent, second, {
    type: "assistant",
    requestId: `req_${id}`,
    message: { id, role: "assistant", model: "claude-opus-4-6", content: [block], usage },
    ...more,
  });
const usage = {
  input_tokens: 10,
  cache_read_input_tokens: 900,
  cache_creation_input_tokens: 90,
  output_tokens: 1,
};
const text = (said: string): object => ({ type: "text", text: said });
const call = (id: string): object => ({ type: "tool_use", id, name: "Read", input: { path: id } });
const result = (id: string): object[] => [
  { type: "tool_result", tool_use_id: id, content: `of ${id}` },
];
const read = (lines: readonly object[], run?: Run): Recorded[] =>
  recordingsOf(createClaudeCodeReader, lines, run === undefined ? {} : { run });
const hidden = "system: (not in the recording)";

describe("a Claude Code session", () => {
  const recorded = read([
    { type: "summary", summary: "Earlier work", leafUuid: "x" },
    user("u1", null, 1, "Fix it"),
    piece("a1", "u1", 3, "m1", { type: "thinking", thinking: "hm", signature: "sig" }),
    piece("a2", "a1", 4, "m1", text("Looking.")),
    piece("a3", "a2", 5, "m1", call("t1")),
    user("u2", "a3", 7, result("t1")),
    piece("a4", "u2", 9, "m2", text("Done.")),
  ]);

  test("has one request for each reply, however many lines the reply takes", () => {
    expect(recorded.map(({ type }) => type)).toEqual(["session", "request", "request"]);
    expect(recorded[0]).toMatchObject({
      session: { id: "s1", format: "claude-code", wire: "anthropic-messages", blocks: "as sent" },
    });
    expect(excerptsIn(recorded)).toEqual([
      [hidden, "user: Fix it"],
      [
        hidden,
        "user: Fix it",
        "assistant: hm",
        "assistant: Looking.",
        'assistant: Read {"path":"t1"}',
        "user: of t1",
      ],
    ]);
    expect(requestsIn(recorded).map(({ keep }) => keep)).toEqual([0, 2]);
  });

  test("starts a request with the last line it answers, and ends it with the reply's last", () => {
    expect(
      requestsIn(recorded).map(({ startMs, endMs }) => [
        new Date(startMs ?? 0).toISOString(),
        new Date(endMs ?? 0).toISOString(),
      ]),
    ).toEqual([
      [at(1), at(5)],
      [at(7), at(9)],
    ]);
  });

  test("counts as hidden what the first bill has beyond the shown blocks", () => {
    const [first] = promptsIn(recorded);
    // "Fix it" is 6 characters, 4 small letters and one capital: 0.607 × 6 + 0.0993 × 4 + 0.585, rounded.
    expect(first?.map(({ tier, tokens }) => [tier, tokens])).toEqual([
      ["T1", 995],
      ["T3", 5],
    ]);
    expect(requestsIn(recorded)[0]?.usage).toEqual({
      uncachedTokens: 10,
      cacheReadTokens: 900,
      cacheWriteTokens: { "5m": 90 },
      outputTokens: 1,
      reasoningTokens: 0,
    });
  });

  test("ends a message only where the speaker changes", () => {
    expect(promptsIn(recorded)[1]?.map(({ endsMessage }) => endsMessage)).toEqual([
      true,
      true,
      false,
      false,
      true,
      true,
    ]);
  });
});

describe("parallel calls", () => {
  test("are one reply with all its results after it, whatever lines name as their parents", () => {
    const recorded = read([
      user("u1", null, 1, "Go"),
      piece("a1", "u1", 2, "m1", call("t1")),
      user("r1", "a1", 3, result("t1")),
      piece("a2", "a1", 4, "m1", call("t2")),
      user("r2", "a2", 5, result("t2")),
      piece("a3", "r2", 6, "m2", text("Done.")),
    ]);
    expect(excerptsIn(recorded)[1]).toEqual([
      hidden,
      "user: Go",
      'assistant: Read {"path":"t1"}',
      'assistant: Read {"path":"t2"}',
      "user: of t1",
      "user: of t2",
    ]);
    expect(promptsIn(recorded)[1]?.map(({ endsMessage }) => endsMessage)).toEqual([
      true,
      true,
      false,
      true,
      false,
      true,
    ]);
  });
});

describe("threads", () => {
  test("a side chain is one, between the requests of the main thread", () => {
    const side = { isSidechain: true };
    const recorded = read([
      user("u1", null, 1, "Main"),
      piece("a1", "u1", 2, "m1", call("t1")),
      user("s1", null, 3, "Sub", side),
      piece("s2", "s1", 4, "m2", text("found"), side),
      user("u2", "a1", 5, result("t1")),
      piece("a2", "u2", 6, "m3", text("ok")),
    ]);
    expect(requestsIn(recorded).map(({ thread, keep }) => [thread, keep])).toEqual([
      ["", 0],
      ["s1", 0],
      ["", 2],
    ]);
    expect(excerptsIn(recorded)[1]).toEqual([hidden, "user: Sub"]);
  });

  test("a sub-agent's own file is named by the agent", () => {
    const agent = { isSidechain: true, agentId: "a9" };
    const recorded = read([
      user("s1", null, 3, "Sub", agent),
      piece("s2", "s1", 4, "m2", text("found"), agent),
    ]);
    expect(requestsIn(recorded).map(({ thread }) => thread)).toEqual(["a9"]);
  });

  test("going back to an earlier line keeps what came before it", () => {
    const recorded = read([
      user("u1", null, 1, "One"),
      piece("a1", "u1", 2, "m1", text("first")),
      user("u2", "a1", 3, "Two"),
      piece("a2", "u2", 4, "m2", text("second")),
      user("u3", "a1", 5, "Other"),
      piece("a3", "u3", 6, "m3", text("third")),
      user("u4", "a2", 7, "Back"),
      piece("a4", "u4", 8, "m4", text("fourth")),
    ]);
    expect(requestsIn(recorded).map(({ keep, append }) => [keep, append.length])).toEqual([
      [0, 2],
      [2, 2],
      [3, 1],
      [3, 3],
    ]);
    expect(excerptsIn(recorded)[3]).toEqual([
      hidden,
      "user: One",
      "assistant: first",
      "user: Two",
      "assistant: second",
      "user: Back",
    ]);
  });
});

const boundary = (more: object = {}): object =>
  line("b", null, 3, { type: "system", subtype: "compact_boundary", ...more });

describe("a compaction", () => {
  const before = [user("u1", null, 1, "One"), piece("a1", "u1", 2, "m1", text("first"))];
  const summary = (parent: string | null): object =>
    user("c", parent, 4, "Summary", { isCompactSummary: true });

  test.each([
    ["after a boundary", [boundary(), summary("b")]],
    ["without one", [summary("a1")]],
  ])("starts the history again behind the hidden prefix: %s", (_name, lines) => {
    const recorded = read([
      ...before,
      ...lines,
      user("u2", "c", 5, "Two"),
      piece("a2", "u2", 6, "m2", text("second")),
    ]);
    expect(excerptsIn(recorded)[1]).toEqual([hidden, "user: Summary", "user: Two"]);
    expect(requestsIn(recorded)[1]?.keep).toBe(1);
  });

  test.each([
    ["one by one", { preservedMessages: { uuids: ["u1", "a1"] } }],
    ["by its ends", { preservedSegment: { headUuid: "u1", tailUuid: "a1" } }],
  ])("keeps what it says it keeps, after the summary: %s", (_name, compactMetadata) => {
    const recorded = read([
      ...before,
      boundary({ compactMetadata }),
      summary("b"),
      user("u2", "a1", 5, "Two"),
      piece("a2", "u2", 6, "m2", text("second")),
    ]);
    expect(excerptsIn(recorded)[1]).toEqual([
      hidden,
      "user: Summary",
      "user: One",
      "assistant: first",
      "user: Two",
    ]);
  });
});

describe("what was never sent or never billed", () => {
  test("errors in place of a reply, notes, progress and lines that are only shown add nothing to the prompt", () => {
    const synthetic = { id: "e", model: "<synthetic>", content: [text("API Error")] };
    const recorded = read([
      user("u1", null, 1, "One"),
      line("e1", "u1", 2, { type: "assistant", message: synthetic, isApiErrorMessage: true }),
      line("n1", "e1", 3, { type: "system", subtype: "turn_duration" }),
      line("p1", "n1", 3, { type: "progress", data: {} }),
      user("v1", "p1", 3, "shown", { isVisibleInTranscriptOnly: true }),
      line("q1", "v1", 4, { type: "attachment", attachment: { type: "todo", content: "Queued" } }),
      line("q2", "q1", 4, { type: "attachment", attachment: { type: "hook" } }),
      { type: "file-history-snapshot", messageId: "z" },
      piece("a1", "q2", 6, "m1", text("first")),
    ]);
    expect(excerptsIn(recorded)).toEqual([[hidden, "user: One", "user: Queued"]]);
    expect(skippedIn(recorded)).toEqual([]);
  });

  test("a reply without usage has none, and nothing counts as hidden", () => {
    const message = { id: "m1", model: "claude-opus-4-6", content: "Hi", usage: null };
    const recorded = read([
      user("u1", null, 1, "One"),
      line("a1", "u1", 2, { type: "assistant", message }),
    ]);
    expect(excerptsIn(recorded)).toEqual([["user: One"]]);
    expect(requestsIn(recorded)[0]?.usage).toBeNull();
  });
});

describe("a damaged or copied file", () => {
  test("a missing parent is reported once, and the previous line replaces it", () => {
    const recorded = read([
      user("u1", null, 1, "One"),
      piece("a1", "u1", 2, "m1", text("first")),
      user("u2", "gone", 3, "Two"),
      piece("a2", "gone too", 4, "m2", text("second")),
    ]);
    expect(excerptsIn(recorded)[1]).toEqual([hidden, "user: One", "assistant: first", "user: Two"]);
    expect(skippedIn(recorded)).toEqual([
      "3: the line it follows is missing; from here on such lines follow the one before",
    ]);
  });

  test("lines that come twice count once", () => {
    const lines = [user("u1", null, 1, "One"), piece("a1", "u1", 2, "m1", text("first"))];
    const recorded = read([...lines, ...lines]);
    expect(requestsIn(recorded)).toHaveLength(1);
    expect(skippedIn(recorded)).toEqual(["file: 2 of its lines repeat earlier ones"]);
  });

  test("replies that a resumed session copied from another file are not billed again", () => {
    const run = createRun();
    const lines = [user("u1", null, 1, "One"), piece("a1", "u1", 2, "m1", text("first"))];
    expect(requestsIn(read(lines, run))).toHaveLength(1);
    const resumed = read(
      [...lines, user("u2", "a1", 3, "Two"), piece("a2", "u2", 4, "m2", text("second"))],
      run,
    );
    expect(excerptsIn(resumed)).toEqual([[hidden, "user: One", "assistant: first", "user: Two"]]);
    expect(resumed[0]).toMatchObject({ type: "session", session: { id: "s1#2" } });
    expect(skippedIn(resumed)).toEqual(["file: 1 of its replies were read in an earlier file"]);
  });

  test("strange values in known fields do not stop the reading", () => {
    const recorded = read([
      line("u1", null, 1, { type: "user", message: null, timestamp: 5 }),
      line("a1", "u1", 2, {
        type: "assistant",
        message: { content: [null, 7, "x", {}], usage: 3 },
      }),
    ]);
    expect(requestsIn(recorded)).toHaveLength(1);
  });
});

const progress = (uuid: string, second: number, message: object): object =>
  line(uuid, "a1", second, {
    type: "progress",
    parentToolUseID: "t1",
    data: { type: "agent_progress", agentId: "agent-7", prompt: "Look for it", message },
  });

test("calls of a sub-agent that stand in the session's file as progress are requests of its own thread", () => {
  const said = (id: string, second: number): object => ({
    type: "assistant",
    uuid: `sub ${id}`,
    timestamp: at(second),
    requestId: `req_${id}`,
    message: { id, role: "assistant", model: "claude-opus-4-6", content: [call(id)], usage },
  });
  const answered = (id: string, second: number): object => ({
    type: "user",
    uuid: `result ${id}`,
    timestamp: at(second),
    message: { role: "user", content: result(id) },
  });
  const recorded = read([
    user("u1", null, 1, "Fix it"),
    piece("a1", "u1", 3, "m1", call("t1")),
    progress("p1", 4, said("s1", 4)),
    progress("p2", 5, answered("s1", 5)),
    progress("p3", 6, said("s2", 6)),
    user("u2", "a1", 7, result("t1")),
    piece("a2", "u2", 8, "m2", text("Done.")),
  ]);
  expect(skippedIn(recorded)).toEqual([]);
  expect(requestsIn(recorded).map(({ thread }) => thread)).toEqual(["", "agent-7", "agent-7", ""]);
  expect(excerptsIn(recorded)[2]).toEqual([
    hidden,
    "user: Look for it",
    'assistant: Read {"path":"s1"}',
    "user: of s1",
  ]);
  expect(excerptsIn(recorded)[3]).toEqual([
    hidden,
    "user: Fix it",
    'assistant: Read {"path":"t1"}',
    "user: of t1",
  ]);
});
