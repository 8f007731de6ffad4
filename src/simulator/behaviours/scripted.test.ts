import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Prompt, PromptTurn } from "../prompt.ts";
import { loadScript, parseScript } from "./load-script.ts";
import { createScripted } from "./scripted.ts";

function prompt(text: string, more: Partial<Prompt> = {}): Prompt {
  return {
    model: "gpt-6.1-sol",
    wants: "reply",
    instructions: null,
    system: "Be brief.",
    tools: [],
    turns: [{ role: "user", text, toolUses: [], toolResults: [] }],
    outputTokensMax: 100,
    thinks: false,
    toolChoice: "auto",
    ...more,
  };
}

function withResult(text: string): Partial<Prompt> {
  const assistant: PromptTurn = { role: "assistant", text: "", toolUses: [], toolResults: [] };
  const toolResults = [{ id: "1", text, isError: false }];
  return { turns: [...prompt("go").turns, assistant, { ...assistant, role: "user", toolResults }] };
}

test("steps answer in order", () => {
  const model = createScripted([
    { thinking: "Hm.", text: "Let me see.", toolCalls: [{ name: "read", input: { path: "a" } }] },
    { text: "Done." },
    { text: "Cut", stop: "output limit" },
  ]);
  expect(model(prompt("a"))).toEqual({
    parts: [
      { kind: "thinking", text: "Hm." },
      { kind: "text", text: "Let me see." },
      { kind: "tool use", name: "read", inputJson: '{"path":"a"}' },
    ],
    stop: "tool use",
  });
  expect(model(prompt("b"))).toEqual({ parts: [{ kind: "text", text: "Done." }], stop: "end" });
  expect(model(prompt("c")).stop).toBe("output limit");
});

test("a request beyond the last step fails loudly, with what it was", () => {
  const model = createScripted([{ text: "Only once." }]);
  model(prompt("first"));
  expect(() => model(prompt("second"))).toThrow(
    'the script has no step left for this request: turn 1 of gpt-6.1-sol, user text "second"',
  );
});

test("a step may expect something of its request, and fails loudly otherwise", () => {
  const model = createScripted([{ expect: { userText: "hello" }, text: "hi" }]);
  expect(() => model(prompt("goodbye"))).toThrow(
    'step 1 of the script expects {"userText":"hello"}, but the request is: turn 1 of gpt-6.1-sol, user text "goodbye"',
  );
  expect(model(prompt("hello you")).stop).toBe("end");
});

test.each([
  [{ userText: "go" }, prompt("let us go"), prompt("stay")],
  [{ toolResult: "ENOENT" }, prompt("", withResult("ENOENT: a")), prompt("", withResult("fine"))],
  [{ turn: 2 }, prompt("", withResult("x")), prompt("")],
  [{ system: "brief" }, prompt(""), prompt("", { system: "" })],
  [{ model: "gpt-6.1-sol" }, prompt(""), prompt("", { model: "other" })],
  [{ wants: "summary" as const }, prompt("", { wants: "summary" }), prompt("")],
  [{ userText: "go", turn: 1 }, prompt("go"), prompt("go", withResult("x"))],
])("a step with a condition answers what fits it, whenever it comes: %o", (when, fits, other) => {
  const model = createScripted([{ text: "next" }, { when, text: "matched", times: "always" }]);
  expect(model(fits).parts).toEqual([{ kind: "text", text: "matched" }]);
  expect(model(other).parts).toEqual([{ kind: "text", text: "next" }]);
  expect(model(fits).parts).toEqual([{ kind: "text", text: "matched" }]);
});

test("a step answers as often as it says", () => {
  const model = createScripted([{ text: "twice", times: 2 }, { text: "then" }]);
  const said = [1, 2, 3].map(() => model(prompt("x")).parts[0]);
  expect(said.map((part) => part?.kind === "text" && part.text)).toEqual([
    "twice",
    "twice",
    "then",
  ]);
});

test("a reset starts the script over", () => {
  const model = createScripted([{ text: "once" }]);
  model(prompt("x"));
  model.reset?.();
  expect(model(prompt("x")).parts).toEqual([{ kind: "text", text: "once" }]);
});

describe("a script from a file", () => {
  const folder = mkdtempSync(join(tmpdir(), "strata-script-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  test("is JSON", async () => {
    const file = write("a.json", '[{"text":"hi","when":{"turn":1}}]');
    expect(createScripted(await loadScript(file))(prompt("x")).parts).toEqual([
      { kind: "text", text: "hi" },
    ]);
  });

  test("or TypeScript, with functions", async () => {
    const file = write(
      "b.ts",
      `export const steps = [
        { when: (prompt: { system: string }) => prompt.system === "", text: "no system" },
        { reply: (prompt: { model: string }) => ({ parts: [{ kind: "text", text: prompt.model }], stop: "end" }) },
      ];`,
    );
    const model = createScripted(await loadScript(file));
    expect(model(prompt("x")).parts).toEqual([{ kind: "text", text: "gpt-6.1-sol" }]);
    expect(model(prompt("x", { system: "" })).parts).toEqual([{ kind: "text", text: "no system" }]);
  });

  test.each<[string, string, RegExp]>([
    ["none.json", "", /cannot be read/],
    ["broken.json", "{", /cannot be read: .*JSON/],
    ["empty.json", "[]", /has no steps/],
    ["silent.json", '[{"times":1}]', /\[0\] has no reply/],
    ["typo.json", '[{"text":"a"},{"tekst":"b"}]', /\[1\] has an unknown field "tekst"/],
    ["when.json", '[{"text":"a","when":{"user":"b"}}]', /unknown field "user"/],
    ["calls.json", '[{"toolCalls":[{"input":{}}]}]', /toolCalls\[0\]\.name is missing/],
    ["input.json", '[{"toolCalls":[{"name":"a","input":5}]}]', /input is 5/],
    ["reply.json", '[{"reply":"a"}]', /is not a function/],
    ["stop.json", '[{"stop":"never"}]', /must be one of "end"/],
    ["c.ts", "export const other = 1;", /exports no steps/],
  ])("that is wrong is refused: %s", async (name, text, message) => {
    const file = name === "none.json" ? join(folder, "missing.json") : write(name, text);
    await expect(loadScript(file)).rejects.toThrow(message);
  });

  test("may stand in an object", () => {
    expect(parseScript({ steps: [{ text: "a" }] }, "here")).toMatchObject([{ text: "a" }]);
  });
});
