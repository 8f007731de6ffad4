import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findPolicy } from "../../../core/cache/policies.ts";
import { fieldsIn, fieldsOf, listIn, textIn } from "../../../core/message/fields.ts";
import type { Recorded } from "../../recording.ts";
import { replay } from "../../replay.ts";
import { createOpencodeReader } from "./read-opencode.ts";
import { readRecordings } from "../read-recordings.ts";
import {
  charactersCounter,
  collect,
  excerptsIn,
  recordingsOf,
  requestsIn,
  skippedIn,
} from "../test-kit.ts";

const fixture = new URL("../../../../fixtures/recordings/opencode.json", import.meta.url).pathname;
const readAt = (path: string): AsyncGenerator<Recorded> =>
  readRecordings([path], { counter: charactersCounter, excerpts: true });
const hidden = "system: (not in the recording)";

const tokens = { input: 10, output: 5, reasoning: 2, cache: { read: 400, write: 90 } };
const text = (said: string): object => ({ type: "text", text: said });
const user = (id: string, created: number, ...parts: readonly object[]): object => ({
  info: { id, role: "user", time: { created } },
  parts,
});
const reply = (
  id: string,
  created: number,
  parts: readonly object[],
  more: object = {},
): object => ({
  info: {
    id,
    role: "assistant",
    time: { created, completed: created + 5 },
    modelID: "claude-sonnet-4-6",
    providerID: "anthropic",
    tokens,
    ...more,
  },
  parts,
});
const read = (...messages: readonly object[]): Recorded[] =>
  recordingsOf(createOpencodeReader, [{ info: { id: "ses_1" }, messages }]);
const tool = (id: string, state: object): object => ({
  type: "tool",
  callID: id,
  tool: "read",
  state,
});

describe("an exported session of opencode", () => {
  test("has a request for each reply, with usage, times and the results of tools", async () => {
    const recorded = await collect(readAt(fixture));
    expect(recorded[0]).toMatchObject({
      session: { id: "ses_01", format: "opencode", agent: "opencode", wire: "anthropic-messages" },
    });
    expect(excerptsIn(recorded)).toEqual([
      [hidden, "user: What does a.txt say?"],
      [hidden, "user: What does a.txt say?", 'assistant: read {"path":"a.txt"}', "user: hello"],
    ]);
    expect(requestsIn(recorded)[1]).toMatchObject({
      thread: "",
      startMs: 1_770_000_004_000,
      endMs: 1_770_000_006_000,
      model: "claude-sonnet-4-6",
      keep: 2,
      usage: {
        uncachedTokens: 3,
        cacheReadTokens: 9997,
        cacheWriteTokens: { "5m": 60 },
        outputTokens: 10,
        reasoningTokens: 0,
      },
    });
  });

  test("is priced under the policies", async () => {
    const policies = [findPolicy("tail-5m"), findPolicy("none")];
    const report = await replay(readAt(fixture), { policies, model: null, groupBy: "none" });
    expect(report).toMatchObject({ sessions: 1, requests: 2, skipped: [] });
    // 10,057 written at $3.75, 9,997 read at $0.30 and 6 at $3 a million.
    expect(report.recorded).toMatchObject({ inputTokens: 20_060, costPicoUsd: "40730850000" });
    // 20,060 at $3.
    expect(report.policies[1]).toMatchObject({ policy: "none", costPicoUsd: "60180000000" });
  });

  test("in the folders of its storage gives the same", async () => {
    const root = mkdtempSync(join(tmpdir(), "strata-opencode-"));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const write = (path: string, value: unknown): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), typeof value === "string" ? value : JSON.stringify(value));
    };
    const exported = fieldsOf(JSON.parse(readFileSync(fixture, "utf8")));
    for (const each of listIn(exported, "messages").map(fieldsOf)) {
      const id = textIn(fieldsIn(each, "info"), "id") ?? "";
      write(`message/ses_01/${id}.json`, each["info"]);
      for (const part of listIn(each, "parts").map(fieldsOf)) {
        write(`part/${id}/${textIn(part, "id") ?? ""}.json`, part);
      }
    }
    write("session/global/ses_01.json", exported["info"]);
    const fromExport = requestsIn(await collect(readAt(fixture)));
    for (const path of [root, join(root, "message"), join(root, "message/ses_01")]) {
      const recorded = await collect(readAt(path));
      expect(requestsIn(recorded)).toEqual(fromExport);
      expect(skippedIn(recorded)).toEqual([]);
    }
    write("part/msg_03/prt_05.json", '{"type":"te');
    write("message/ses_01/msg_04.json", { id: "../msg_01", role: "user" });
    expect(skippedIn(await collect(readAt(root)))).toEqual(["file: it is not a JSON object"]);
    const both = readRecordings([root, join(root, "message")], { counter: charactersCounter });
    expect((await collect(both)).at(-1)).toMatchObject({
      reason: "it was found under another path",
    });
  });
});

describe("what opencode sends", () => {
  test("leaves out parts that only the client sees", () => {
    const recorded = read(
      user(
        "u1",
        1,
        text("One"),
        { ...text("only shown"), ignored: true },
        { type: "file", mime: "text/plain", url: "file:///a" },
        { type: "file", mime: "image/png", url: "data:image/png;base64,AA==" },
        { type: "agent", name: "build" },
      ),
      reply("a1", 2, [text("first"), { type: "reasoning", text: "hm" }, { type: "snapshot" }]),
      reply("a2", 3, [text("second")]),
    );
    expect(excerptsIn(recorded)[1]).toEqual([
      "user: One",
      "user: (image)",
      "assistant: first",
      "assistant: hm",
    ]);
  });

  test("is a call for each finished step of a message", () => {
    const finish = { type: "step-finish", tokens };
    const done = { status: "completed", input: {}, output: "of a", time: { start: 3, end: 4 } };
    const failed = { status: "error", input: {}, error: "gone", time: { start: 6, end: 7 } };
    const recorded = read(
      user("u1", 1, text("One")),
      reply("a1", 2, [tool("c1", done), finish, tool("c2", failed), finish, text("cut")]),
    );
    expect(requestsIn(recorded).map(({ startMs, endMs }) => [startMs, endMs])).toEqual([
      [2, null],
      [4, null],
    ]);
    expect(excerptsIn(recorded)[1]?.slice(2)).toEqual(["assistant: read {}", "user: of a"]);
    expect(skippedIn(recorded)).toEqual(["1: the reply has no usage"]);
  });

  test("begins with the summary after a compaction, which is a thread of its own", () => {
    const recorded = read(
      user("u1", 1, text("One")),
      reply("a1", 2, [text("first")]),
      user("u2", 3, text("Two")),
      reply("a2", 4, [text("second")]),
      user("u3", 5, { type: "compaction", auto: true, tail_start_id: "u2" }),
      reply("a3", 6, [text("So far")], { summary: true }),
      user("u4", 7, text("Four")),
      reply("a4", 8, [text("fourth")]),
    );
    expect(requestsIn(recorded).map(({ thread }) => thread)).toEqual(["", "", "summary", ""]);
    expect(excerptsIn(recorded)[3]).toEqual([
      hidden,
      "user: What did we do so far?",
      "assistant: So far",
      "user: Two",
      "assistant: second",
      "user: Four",
    ]);
  });

  test("does not hold replies that failed, which count only where they were billed", () => {
    const none = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };
    const recorded = read(
      user("u1", 1, text("One")),
      reply("e1", 2, [text("cut")], { error: { name: "MessageAbortedError" } }),
      reply("e2", 3, [], { error: { name: "APIError" }, tokens: none }),
      reply("a1", 4, [text("first")]),
    );
    expect(excerptsIn(recorded)).toEqual([
      [hidden, "user: One"],
      [hidden, "user: One"],
    ]);
    expect(skippedIn(recorded)).toEqual(["1: the reply failed: APIError"]);
  });

  test("unusable messages are named, and unknown members do no harm", () => {
    const odd = { info: { role: "robot" }, parts: [null, 3] };
    const recorded = read(
      { info: { id: "u1", role: "user", odd: 1 }, parts: [null, { type: "odd" }] },
      odd,
      reply("a1", 2, [{ type: "tool" }], { tokens: { input: "many" } }),
    );
    expect(requestsIn(recorded)).toEqual([]);
    expect(skippedIn(recorded)).toEqual(["1: its role is not known", "1: the reply has no usage"]);
    expect(skippedIn(recordingsOf(createOpencodeReader, [{ odd: 1 }]))).toEqual([
      "1: it is not an exported session",
    ]);
  });
});
