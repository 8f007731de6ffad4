import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StrataError } from "../core/strata-error.ts";
import { run } from "./explain.ts";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-explain-"));
  writeFileSync(join(folder, "a.json"), body("You are helpful. "));
  writeFileSync(join(folder, "b.json"), body("You are helpfuL. "));
  writeFileSync(join(folder, "broken.json"), "{");
  writeFileSync(join(folder, "session.jsonl"), transcript());
});

afterAll(() => rmSync(folder, { recursive: true }));

test("tells the cause, the byte, and what was lost", async () => {
  const { out, status } = await explain(["a.json", "b.json"]);
  expect(status).toBe(0);
  expect(out).toContain("system changed\n");
  expect(out).toContain("  where     system.0 (system block 0, T1)\n");
  expect(out).toContain("  byte      14\n");
  expect(out).toContain("  before    You are helpful. You are helpful.");
  expect(out).toContain("  after     You are helpfuL. You are helpfuL.");
  expect(out).toMatch(/lost {6}[\d,]+ tokens, \$0\.\d{4}\n/);
  expect(out).not.toContain("\u001b[");
});

test("prints one JSON value for machines, dollars as exact text", async () => {
  const { out } = await explain(["a.json", "b.json"], { usage: "0,6000,20" }, ["json"]);
  expect(JSON.parse(out)).toMatchObject({
    cause: "system changed",
    reportedReadTokens: 0,
    lostPicoUsd: expect.stringMatching(/^\d+$/),
    block: { path: "system.0", byteOffset: 14 },
  });
});

test("a gap, a model and reported usage change the verdict", async () => {
  const same = ["a.json", "a.json"];
  expect((await explain(same)).out).toContain("no miss\n");
  expect((await explain(same, { gap: "301" })).out).toContain("lifetime expired\n");
  expect((await explain(same, { usage: "0" })).out).toContain("provider lost it\n");
  expect((await explain(same, { model: "claude-opus-4-8" })).out).toContain("no miss\n");
});

test("a transcript gives every miss with its cause, tokens, dollars and advice", async () => {
  const { out, status } = await explain(["session.jsonl"]);
  expect(status).toBe(0);
  const [head = "", miss = "", summary = ""] = out.split("\n");
  expect(head).toMatch(/^call +cause +lost +cost +what would have avoided it$/);
  expect(miss).toMatch(/^ +2 +lifetime expired +12,000 +\$0\.0414 +The pause of 10 min outlived/);
  expect(summary).toBe("1 of 2 calls missed: 12,000 tokens, $0.0414");
});

test("one call of a transcript is told in full, also when it missed nothing", async () => {
  const second = (await explain(["session.jsonl"], { call: "2" })).out;
  expect(second).toContain("s, call 2 on claude-sonnet-4-6, 600 s after the call before\n");
  expect(second).toContain("lifetime expired\n");
  expect(second).toContain("  read      0 tokens\n");
  expect((await explain(["session.jsonl"], { call: "1" })).out).toContain("first call\n");
});

test("a transcript as JSON has exact dollars and says what it skipped", async () => {
  const { out } = await explain(["session.jsonl"], {}, ["json"]);
  expect(JSON.parse(out)).toMatchObject({
    calls: 2,
    shown: [
      { call: 2, cause: "lifetime expired", evidence: "recorded", lostPicoUsd: "41400000000" },
    ],
    skipped: [],
  });
});

test.each([
  [["session.jsonl"], { call: "0" }, "usage", '--call is "0"'],
  [["session.jsonl"], { call: "9" }, "not-found", "no session has a call 9"],
  [["session.jsonl"], { gap: "60" }, "usage", "--gap is for two request bodies"],
  [["a.json"], {}, "not-found", "no call with usage could be read"],
  [["a.json", "b.json"], { call: "1" }, "usage", "--call is for a transcript"],
  [["broken.json", "a.json"], {}, "input-invalid", "broken.json: the request body is not JSON"],
  [["a.json", "nowhere.json"], {}, "input-invalid", "nowhere.json cannot be read"],
  [["a.json", "b.json"], { gap: "soon" }, "usage", '--gap is "soon"'],
  [["a.json", "b.json"], { usage: "1,2,3,4" }, "usage", '--usage is "1,2,3,4"'],
  [["a.json", "b.json"], { usage: "-1" }, "usage", '--usage is "-1"'],
  [["a.json", "b.json"], { model: "claud" }, "model-unknown", 'model "claud" is unknown'],
])("%j %j is an error that says what to do", async (files, values, code, message) => {
  const error: unknown = await explain(files, values).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StrataError);
  expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
});

function body(sentence: string): string {
  const cache_control = { type: "ephemeral" };
  return JSON.stringify({
    model: "claude-sonnet-4-6",
    max_tokens: 10,
    system: [{ type: "text", text: sentence.repeat(1000), cache_control }],
    messages: [{ role: "user", content: [{ type: "text", text: "Hello", cache_control }] }],
  });
}

function traceRequest(t: string, keep: number, read: number, written: number): unknown {
  return {
    kind: "request",
    t,
    t_end: t,
    model: "claude-sonnet-4-6",
    keep,
    append: [{ role: "user", content: [{ type: "text", text: "Go on." }] }],
    n_messages: keep + 1,
    usage: {
      input_tokens: 3,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
      output_tokens: 5,
    },
  };
}

/** Two calls, ten minutes apart: the second finds nothing. */
function transcript(): string {
  const header = {
    kind: "session",
    format: "ctx-trace/1",
    id: "s",
    agent: "claude-code",
    wire: "anthropic-messages",
    prefix_known: false,
    qa: { hidden_prefix_tokens: 11_990 },
  };
  const lines = [
    header,
    traceRequest("2026-11-15T12:00:00Z", 0, 0, 12_000),
    traceRequest("2026-11-15T12:10:00Z", 1, 0, 12_010),
  ];
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

async function explain(
  files: readonly string[],
  values: Readonly<Record<string, string>> = {},
  switches: readonly string[] = [],
): Promise<{ out: string; status: number }> {
  let out = "";
  const input = {
    operands: files.map((file) => join(folder, file)),
    values: new Map(Object.entries(values)),
    switches: new Set(switches),
  };
  const io = { out: (text: string) => void (out += text), error: () => {}, env: {} };
  const status = await run(input, io);
  return { out, status };
}
