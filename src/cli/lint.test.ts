import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StrataError } from "../core/strata-error.ts";
import { run } from "./lint.ts";

let folder = "";

const good = {
  model: "claude-sonnet-4-6",
  max_tokens: 10,
  system: [{ type: "text", text: "Be brief. ".repeat(1000), cache_control: { type: "ephemeral" } }],
  messages: [{ role: "user", content: "Hello" }],
};
const warned = {
  ...good,
  system: [{ ...good.system[0], text: `${"Be brief. ".repeat(1000)}12:30:59` }],
};
const wrong = {
  ...good,
  messages: [
    {
      role: "user",
      content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral", ttl: "1h" } }],
    },
  ],
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-lint-"));
  mkdirSync(join(folder, "all", "inner"), { recursive: true });
  writeFileSync(join(folder, "good.json"), JSON.stringify(good));
  writeFileSync(join(folder, "warned.json"), JSON.stringify(warned));
  writeFileSync(join(folder, "wrong.json"), JSON.stringify(wrong));
  writeFileSync(join(folder, "none.json"), "[]");
  const lines = [JSON.stringify(good), "", "{", JSON.stringify(wrong), ""];
  writeFileSync(join(folder, "all", "log.jsonl"), lines.join("\n"));
  writeFileSync(join(folder, "all", "inner", "warned.json"), JSON.stringify(warned));
  writeFileSync(join(folder, "all", "notes.txt"), "nothing");
});

afterAll(() => rmSync(folder, { recursive: true }));

test("a good request has no findings and status 0", async () => {
  expect(await lint("good.json")).toEqual({
    out: "1 request: 0 errors, 0 warnings, 0 to look at\n",
    status: 0,
  });
});

test("warnings are shown with their place and advice, and do not fail", async () => {
  const { out, status } = await lint("warned.json");
  expect(status).toBe(0);
  expect(out).toContain("warning  system.0: system block 0 holds a clock: …");
  expect(out).toContain("[clock]\n           If it changes from call to call");
  expect(out).not.toContain("\u001b[");
});

test("an error gives status 1", async () => {
  const { out, status } = await lint("wrong.json");
  expect(status).toBe(1);
  expect(out).toContain("error    messages.0.content.0: a marker of 1h stands after one");
});

test("a body that names no model is checked by the rules of --model", async () => {
  const { model: _, ...unnamed } = wrong;
  writeFileSync(join(folder, "unnamed.json"), JSON.stringify(unnamed));
  const { out, status } = await lint("unnamed.json");
  expect(status).toBe(0);
  expect(out).toContain("Say which model is asked: --model ID");
  expect((await lint("unnamed.json", [], { model: "claude-sonnet-4-6" })).status).toBe(1);
  await expect(lint("unnamed.json", [], { model: "gemini-nope" })).rejects.toThrow(
    'model "gemini-nope" is unknown',
  );
});

test("a folder is linted with everything in it; what is no request is counted", async () => {
  const { out, status } = await lint("all", ["json"]);
  expect(status).toBe(1);
  const log = join(folder, "all", "log.jsonl");
  expect(JSON.parse(out)).toMatchObject({
    requests: [
      {
        file: join(folder, "all", "inner", "warned.json"),
        line: null,
        findings: [{ rule: "clock" }],
      },
      { file: log, line: 1, findings: [] },
      { file: log, line: 4, findings: [{ rule: "lifetime-order" }] },
    ],
    skipped: [{ file: log, line: 3 }],
    errors: 1,
  });
});

test.each([
  ["none.json", "not a request that Strata can read"],
  ["nowhere.json", "cannot be read"],
])("%s alone is an error", async (file, message) => {
  const error: unknown = await lint(file).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StrataError);
  expect(error).toMatchObject({ code: "input-invalid", message: expect.stringContaining(message) });
});

async function lint(
  target: string,
  switches: readonly string[] = [],
  values: Readonly<Record<string, string>> = {},
): Promise<{ out: string; status: number }> {
  let out = "";
  const input = {
    operands: [join(folder, target)],
    values: new Map(Object.entries(values)),
    switches: new Set(switches),
  };
  const io = { out: (text: string) => void (out += text), error: () => {}, env: {} };
  const status = await run(input, io);
  return { out, status };
}
