import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StrataError } from "../../core/strata-error.ts";
import { run } from "./explain.ts";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-explain-"));
  writeFileSync(join(folder, "a.json"), body("You are helpful. "));
  writeFileSync(join(folder, "b.json"), body("You are helpfuL. "));
  writeFileSync(join(folder, "broken.json"), "{");
  const said = [{ role: "user", parts: [{ text: "Hi. ".repeat(9000) }] }];
  writeFileSync(join(folder, "gemini.json"), JSON.stringify({ contents: said }));
  writeFileSync(join(folder, "session.jsonl"), transcript());
  writeFileSync(join(folder, "edited.jsonl"), editedTranscript());
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

test("bodies that name no model are explained with --model, and the command asks for it", async () => {
  const same = ["gemini.json", "gemini.json"];
  await expect(explain(same)).rejects.toMatchObject({
    code: "usage",
    message: expect.stringContaining("gemini.json names no model"),
    hint: "say which one was asked with --model, as --model gemini-3.8-flash",
  });
  const model = "gemini-3.8-flash";
  // Its documents name no lifetime: half a minute is not blamed, an hour may be.
  expect((await explain(same, { model })).out).toContain("no miss\n");
  expect((await explain(same, { model, usage: "0" })).out).toContain("provider lost it\n");
  expect((await explain(same, { model, gap: "3600" })).out).toContain("lifetime expired\n");
});

test("a long session starts with what each cause cost, most first", async () => {
  writeFileSync(join(folder, "long.jsonl"), pausingTranscript(8));
  const [first = "", head = "", cause = "", gap] = (await explain(["long.jsonl"])).out.split("\n");
  expect(first).toMatch(/^7 of 8 calls missed: [\d,]+ tokens, \$\d/);
  expect(head).toMatch(/^cause +calls +lost +cost +first$/);
  expect(cause).toMatch(/^lifetime expired +7 +[\d,]+ +\$\d+\.\d+ +long, call 2$/);
  expect(gap).toBe("");
});

/** Every call comes ten minutes after the one before and writes everything again. */
function pausingTranscript(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => ({
    kind: "request",
    t: new Date(Date.parse("2026-11-15T12:00:00Z") + index * 600_000).toISOString(),
    model: "claude-sonnet-4-6",
    keep: index,
    append: [{ role: "user", content: `message ${index} ${"go on ".repeat(500)}` }],
    usage: {
      input_tokens: 3,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 9000 + 600 * index,
      output_tokens: 1,
    },
  }));
  const wire = "anthropic-messages";
  const header = { kind: "session", format: "ctx-trace/1", id: "long", wire };
  return [header, ...lines].map((line) => JSON.stringify(line)).join("\n");
}

test("a transcript gives every miss with its cause, tokens, dollars and advice", async () => {
  const { out, status } = await explain(["session.jsonl"]);
  expect(status).toBe(0);
  const [head = "", miss = "", summary = ""] = out.split("\n");
  expect(head).toMatch(/^call +cause +lost +cost +what would have avoided it$/);
  expect(miss).toMatch(/^ +2 +lifetime expired +12,000 +\$0\.0414 +The pause of 10 min outlived/);
  expect(summary).toBe("1 of 2 calls missed: 12,000 tokens, $0.0414");
});

test("one call of a transcript is shown in full, also when it missed nothing", async () => {
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

test("excerpts of a transcript show what was not read, for every miss and for one call", async () => {
  const [head = "", miss = ""] = (await explain(["edited.jsonl"], {}, ["excerpts"])).out.split(
    "\n",
  );
  expect(head).toMatch(/cost +first block that was not read +what would have avoided it$/);
  expect(miss).toMatch(/^ +2 +history rewritten .* Ask quokka\\u\{1b\}\[31m again +Append to/);
  const call = (await explain(["edited.jsonl"], { call: "2" }, ["excerpts"])).out;
  expect(call).toContain("  before    Ask wombat first\n");
  expect(call).toContain("  after     Ask quokka\\u{1b}[31m again\n");
  expect(call).toContain("  not read  from block 2 on: Ask quokka\\u{1b}[31m again\n");
  const json = (await explain(["edited.jsonl"], {}, ["json", "excerpts"])).out;
  expect(JSON.parse(json)).toMatchObject({
    shown: [
      {
        firstUnread: { path: "block 2", excerpt: "Ask quokka\\u{1b}[31m again" },
        block: { before: "Ask wombat first", after: "Ask quokka\\u{1b}[31m again" },
      },
    ],
  });
});

test("no content is shown unless excerpts are asked for", async () => {
  for (const values of [{}, { call: "1" }, { call: "2" }]) {
    for (const switches of [[], ["json"]]) {
      const { out } = await explain(["edited.jsonl"], values, switches);
      expect(out).toMatch(/first call|history rewritten/);
      expect(out).not.toMatch(/quokka|wombat|platypus|first block that was not read|\n {2}after/);
    }
  }
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

test("excerpts are for a transcript: of two bodies the difference is always shown", async () => {
  await expect(explain(["a.json", "b.json"], {}, ["excerpts"])).rejects.toMatchObject({
    code: "usage",
    message: "--excerpts is for a transcript, and these are two request bodies",
    hint: "leave it out: for two bodies the first difference is always shown",
  });
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

function say(role: string, text: string): unknown {
  return { role, content: [{ type: "text", text }] };
}

/** The first question comes back with other words, and only what stands before it is read. */
function editedTranscript(): string {
  const reply = say("assistant", "platypus ".repeat(5000));
  const [header, first, second] = transcript()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  const soon = { t: "2026-11-15T12:01:00Z", t_end: "2026-11-15T12:01:00Z", keep: 0 };
  const written = { cache_read_input_tokens: 0, cache_creation_input_tokens: 21_000 };
  const read = { cache_read_input_tokens: 11_990, cache_creation_input_tokens: 9010 };
  const changes = [
    {},
    { append: [say("user", "Ask wombat first"), reply], usage: { input_tokens: 3, ...written } },
    {
      ...soon,
      append: [say("user", "Ask quokka\u001b[31m again"), reply],
      usage: { input_tokens: 3, ...read },
    },
  ];
  return [header, first, second]
    .map((line, index) => JSON.stringify(Object.assign({}, line, changes[index])))
    .join("\n");
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
