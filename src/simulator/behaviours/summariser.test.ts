import { expect, test } from "vitest";
import type { Prompt, PromptTurn } from "../prompt.ts";
import { createEcho } from "./echo.ts";
import { asksForSummary, createSummariser, lastQuestion } from "./summariser.ts";

const nothing = { toolUses: [], toolResults: [] };
const conversation: readonly PromptTurn[] = [
  { role: "user", text: "Find the   bug\nin the parser.", ...nothing },
  {
    role: "assistant",
    text: "I look.",
    toolUses: [
      { id: "1", name: "read", inputJson: '{"path":"src/parse.ts"}' },
      { id: "2", name: "read", inputJson: "{}" },
    ],
    toolResults: [],
  },
  {
    role: "user",
    text: "",
    toolUses: [],
    toolResults: [{ id: "1", text: "src/parse.ts src/main.ts", isError: false }],
  },
  { role: "assistant", text: "It is in line 5.", ...nothing },
];

function prompt(turns: readonly PromptTurn[], more: Partial<Prompt> = {}): Prompt {
  return {
    model: "m",
    wants: "summary",
    instructions: null,
    system: "",
    tools: [],
    turns,
    outputTokensMax: 1000,
    thinks: false,
    toolChoice: "auto",
    ...more,
  };
}

function user(text: string): PromptTurn {
  return { role: "user", text, ...nothing };
}

test("a summary is made of what was said", () => {
  const reply = createSummariser()(prompt(conversation, { instructions: "Keep names of files." }));
  expect(reply).toEqual({
    parts: [
      {
        kind: "text",
        text: [
          "What happened so far.",
          "To keep: Keep names of files.",
          "Asked for:",
          "- Find the bug in the parser.",
          "Tools used:",
          "- read, 2 times",
          "Files seen:",
          "- src/parse.ts",
          "- src/main.ts",
          "Said last: It is in line 5.",
          "Tool steps so far: 1",
        ].join("\n"),
      },
    ],
    stop: "end",
  });
});

test("a summary fits its limit and keeps its last line", () => {
  const long = Array.from({ length: 50 }, (_, index) => user(`${index} ${"x".repeat(1000)}`));
  const [part] = createSummariser()(prompt(long, { outputTokensMax: 100 })).parts;
  const text = part?.kind === "text" ? part.text : "";
  expect(text.length).toBeLessThanOrEqual(300);
  expect(text).toMatch(/Tool steps so far: 0$/);
});

test("a summary stands between tags where the client reads it there", () => {
  const ask = user("Write a summary of the conversation in <summary> tags.");
  const [part] = createSummariser()(prompt([...conversation, ask])).parts;
  expect(part?.kind === "text" && part.text).toMatch(
    /^<summary>\nWhat happened [\s\S]*\n<\/summary>$/,
  );
  expect(part?.kind === "text" && part.text).not.toContain("Write a summary");
});

test.each([
  ["Your task is to create a detailed summary of the conversation so far.", true],
  ["Please summarize our conversation above.", true],
  ["You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.", true],
  ["Provide a detailed prompt for continuing our conversation above.", true],
  ["Summarize the history of this repository.", false],
  ["Write a summary of README.md", false],
])("%j asks for a summary of the conversation: %s", (text, expected) => {
  expect(asksForSummary(prompt([user(text)]))).toBe(expected);
});

test("what was asked for earlier does not count as asked for now", () => {
  const ask = user("Summarize the conversation.");
  expect(asksForSummary(prompt([ask, conversation[3] ?? ask]))).toBe(false);
});

test("echo repeats the last text of a user or a tool", () => {
  const echo = createEcho();
  const said = (turns: readonly PromptTurn[]): unknown =>
    echo(prompt(turns, { wants: "reply" })).parts;
  expect(said([user("hello")])).toEqual([{ kind: "text", text: "hello" }]);
  expect(said(conversation.slice(0, 3))).toEqual([
    { kind: "text", text: "src/parse.ts src/main.ts" },
  ]);
  expect(said([])).toEqual([{ kind: "text", text: "(nothing)" }]);
});

test("echo thinks, uses a tool and summarises where it must", () => {
  const echo = createEcho();
  const tools = [
    { name: "a", description: "", inputSchema: { type: "object" } },
    { name: "b", description: "", inputSchema: null },
  ];
  const asked = prompt([user("hello")], { wants: "reply", tools });
  expect(echo({ ...asked, thinks: true }).parts.map(({ kind }) => kind)).toEqual([
    "thinking",
    "text",
  ]);
  expect(echo({ ...asked, toolChoice: "any" })).toEqual({
    parts: [{ kind: "tool use", name: "a", inputJson: "{}" }],
    stop: "tool use",
  });
  expect(echo({ ...asked, toolChoice: { name: "b" } }).parts).toEqual([
    { kind: "tool use", name: "b", inputJson: '"sample"' },
  ]);
  expect(echo({ ...asked, wants: "summary" }).parts[0]).toMatchObject({ kind: "text" });
});

test("what clients put between tags is not what was asked", () => {
  const told = user("<system-reminder>\nUse tools.\n</system-reminder>\nWhy?\n<env>x</env>");
  const alone = user("<system-reminder>Later.</system-reminder>");
  expect(lastQuestion(prompt([told, alone]))).toBe("Why?");
  const [part] = createSummariser()(prompt([told, alone])).parts;
  expect(part?.kind === "text" && part.text).toContain("Asked for:\n- Why?\nTool");
});
