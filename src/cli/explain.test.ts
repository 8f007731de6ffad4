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

test.each([
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
