import { describe, expect, test } from "vitest";
import { addIdentifiers, cleanSummary, judgeSummary, type SummaryDemands } from "./judge.ts";

const demands: SummaryDemands = {
  identifiers: [],
  tokensMin: 10,
  tokensMax: 400,
  countText: (text) => Math.ceil(text.length / 4),
};

const good = `## Task
- The user wants the parser in src/parse.ts to read nested lists.
## Decisions
- The parser stays recursive, because the grammar is.
## Open questions
none
## Constraints
- No new dependency.
## State of files
- src/parse.ts reads flat lists; src/parse.test.ts has two failing tests.
## Failed attempts
- A stack of frames was slower and harder to read.
## Next step
- Write parseItems and run the tests.`;

describe("the gate", () => {
  test("lets a whole summary pass", () => {
    expect(judgeSummary(good, demands)).toEqual([]);
  });

  test.each([
    ["**Task**", "## Task"],
    ["1. Task:", "## Task"],
    ["Task: as follows", "## Task"],
    ["### TASK", "## Task"],
  ])("takes %j for the heading", (spelled, heading) => {
    expect(judgeSummary(good.replace(heading, spelled), demands)).toEqual([]);
  });

  test("names the headings that are missing", () => {
    const cut = good.slice(0, good.indexOf("## Failed"));
    expect(judgeSummary(cut, demands)).toEqual([
      "It lacks these headings: ## Failed attempts, ## Next step.",
    ]);
    expect(judgeSummary(cut, { ...demands, isPart: true })).toEqual([]);
  });

  test.each(["", " \n "])("refuses %j as empty", (text) => {
    expect(judgeSummary(text, demands)).toEqual(["It is empty."]);
  });

  test("says how long it is and may be", () => {
    expect(judgeSummary(good, { ...demands, tokensMax: 50 })).toEqual([
      "It is too long: about 103 tokens, and at most 50 are allowed.",
    ]);
    expect(judgeSummary(good, { ...demands, tokensMin: 300 })).toEqual([
      "It is too short: about 103 tokens for what happened, and 300 are needed.",
    ]);
  });

  test("names lost identifiers, which a mechanical end can bring back", () => {
    const wanted = { ...demands, identifiers: ["src/parse.ts", "TX-1", "9f3c2b"] };
    expect(judgeSummary(good, wanted)).toEqual([
      "It lacks these, which must stand in it word for word: TX-1, 9f3c2b",
    ]);
    expect(judgeSummary(addIdentifiers(good, ["TX-1", "9f3c2b"]), wanted)).toEqual([]);
    expect(addIdentifiers(good, [])).toBe(good);
  });

  test("asks after what is still to be done", () => {
    const kept = "Please make the parser read nested lists, too.";
    const lost = "Please also upgrade the database cluster before Friday noon.";
    expect(judgeSummary(good, { ...demands, pendingAsks: [kept, "Go on.", lost] })).toEqual([
      `It does not say that this was asked and is still open: ${lost}`,
    ]);
  });

  test.each([
    `${good}\n<function_calls>\n<invoke name="read">`,
    `<tool_call>{"name":"read"}</tool_call>\n${good}`,
    `${good}\n{"tool_calls": []}`,
  ])("refuses a call that is written as text", (text) => {
    expect(judgeSummary(text, demands)).toEqual([
      "It calls a tool. Tools cannot be called here; write what is known.",
    ]);
  });

  test("lets a summary speak about calls of tools", () => {
    const text = `${good}\n- The agent wrote a decoder for <invoke> and "tool_calls": it works.`;
    expect(judgeSummary(text, demands)).toEqual([]);
  });
});

describe("gibberish", () => {
  test.each([
    [
      "the same over and over",
      "I will do that now. ".repeat(30),
      "It says the same over and over.",
    ],
    ["no words", "0 1 1 0 {} [] ## -- ".repeat(3), "It is not made of words."],
    ["one endless run", `Summary: ${"aGVsbG8gd29ybGQ".repeat(40)}`, "It is not readable text."],
    [
      "noise",
      "xkqzv jfpwm qqrtz bnmkl wrtpz ghjkl zxcvb qwrtp lkjhg mnbvc ptkrs vbnmz dfghj ".repeat(2),
      "It is not readable text.",
    ],
  ])("is %s", (_, text, problem) => {
    expect(judgeSummary(text, demands)).toEqual([problem]);
  });

  test.each([
    "## Task\nПользователь просит исправить разбор вложенных списков.",
    "## Task\n用户希望解析器能够读取嵌套列表，并且保持递归实现，不增加新的依赖。",
    "- src/core/message/message.ts, src/core/ledger/ledger.ts, 9f3c2b1a, 192.168.0.1:8080",
    "## Task\nKrzysztof chce, by parser czytał zagnieżdżone listy; wstrzymać wdrożenie.",
  ])("is not %j", (text) => {
    expect(judgeSummary(text, { ...demands, isPart: true })).toEqual([]);
  });
});

test.each([
  ["<analysis>hm</analysis>\n<summary>\nText.\n</summary>", "Text."],
  ["```markdown\nText.\n```", "Text."],
  ["<analysis>hm</analysis>Text.", "Text."],
  [" Text. ", "Text."],
])("of the reply %j the summary is %j", (reply, summary) => {
  expect(cleanSummary(reply)).toBe(summary);
});
