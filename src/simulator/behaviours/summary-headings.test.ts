import { expect, test } from "vitest";
import type { Prompt, PromptTurn } from "../prompt.ts";
import { createSummariser, headingsIn, quotedIn } from "./summariser.ts";

const nothing = { toolUses: [], toolResults: [] };

function prompt(turns: readonly PromptTurn[], instructions: string | null = null): Prompt {
  return {
    model: "m",
    wants: "summary",
    instructions,
    system: "",
    tools: [],
    turns,
    outputTokensMax: 1000,
    thinks: false,
    toolChoice: "auto",
  };
}

function user(text: string): PromptTurn {
  return { role: "user", text, ...nothing };
}

function textOf(asked: Prompt): string {
  const [part] = createSummariser()(asked).parts;
  return part?.kind === "text" ? part.text : "";
}

test("a summary has the headings that the client lists", () => {
  const failed = { id: "1", text: "no such file", isError: true };
  const turns: readonly PromptTurn[] = [
    user("Mend the parser."),
    {
      role: "assistant",
      text: "",
      toolUses: [{ id: "1", name: "read", inputJson: "{}" }],
      toolResults: [],
    },
    { role: "user", text: "", toolUses: [], toolResults: [failed] },
    { role: "assistant", text: "The parser stays recursive.", ...nothing },
    user(
      "Write a summary of the conversation.\n## Goal\n## Decisions\n## Errors\n## Weather\n\n- `TX-1`",
    ),
  ];
  expect(textOf(prompt(turns))).toBe(
    [
      "## Goal",
      "- Mend the parser.",
      "## Decisions",
      "- The parser stays recursive.",
      "## Errors",
      "- no such file",
      "## Weather",
      "none",
      "Word for word:",
      "- TX-1",
      "Tool steps so far: 1",
    ].join("\n"),
  );
});

test("headings of the conversation itself are not asked for", () => {
  const turns = [
    user("# One\n# Two\nWhat is this?"),
    { ...user("A list."), role: "assistant" as const },
  ];
  expect(textOf(prompt(turns))).toMatch(/^What happened so far\./);
});

test.each([
  ["## A\n## B\n## A", ["A", "B"]],
  [
    "1. Primary Request and Intent:\n  text\n2. **Pending Tasks**:",
    ["Primary Request and Intent", "Pending Tasks"],
  ],
  ["# Only a title\ntext", []],
  ["- Between 600 and 900 tokens.\n- No tools.", []],
])("%j lists the headings %j", (request, headings) => {
  expect(headingsIn(request)).toEqual(headings);
});

test("what a list quotes must stand in the summary", () => {
  expect(quotedIn("Keep `this`.\n- `src/a.ts`\n* `b c`\n- `src/a.ts`\n- x `y`")).toEqual([
    "src/a.ts",
    "b c",
  ]);
});

test("what an earlier summary says under a heading is taken over", () => {
  const request = user("Write a summary of the conversation, 200 words.\n## Task\n## Files");
  const earlier = "Notes.\n## Task\n- Build the index.\n- Keep TX-1.\n## Files\nnone";
  const shown = textOf(prompt([user(earlier), { ...user("Good."), role: "assistant" }, request]));
  expect(shown).toMatch(/^## Task\n- Build the index\.\n- Keep TX-1\.\n- Notes\./);
});

test("a summary keeps every heading and what came first and last within its limit", () => {
  const items = Array.from({ length: 50 }, (_, index) => `- item number ${index}`);
  const request = user("Write a summary of the conversation in 150 tokens.\n## Task\n## Files");
  const shown = textOf(prompt([user(["## Task", ...items].join("\n")), request]));
  expect(shown.length).toBeLessThanOrEqual(450);
  expect(shown).toContain("- item number 0\n");
  expect(shown).toContain("- item number 49\n");
  expect(shown).toContain("## Files\nnone");
});

test("in a conversation that is shown as text, users are found by their label", () => {
  const shown = "[user]\nMend the parser.\n\n[assistant]\nDone.\n\nUser: And the lexer.";
  const request = user(`${shown}\n\nWrite a summary of the conversation.\n## Task\n## Files`);
  expect(textOf(prompt([request]))).toMatch(/^## Task\n- Mend the parser\.\n- And the lexer\.\n/);
});
