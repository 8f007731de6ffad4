import { describe, expect, test } from "vitest";
import { noTotals, openState, type ChatState } from "../../state/state.ts";
import { noticeOf, update } from "../../state/update.ts";
import { drawItems, nothingPrinted } from "../render.ts";
import { widthOf } from "../../words/text-width.ts";

const about = {
  sessionId: "s",
  model: "m",
  windowTokens: 1000,
  isSimulated: false,
  workspace: null,
};
const reply = [
  "# What I *found*",
  "",
  "The build is **red**: see `src/a.ts` and [the docs](https://example.com/docs).",
  "1. Rename the import, which is a long line that has to wrap",
  "   - [x] done",
  "> quoted",
  "",
  "| file | lines | why |",
  "|---|---:|---|",
  "| a.ts | 1,402 | it was renamed some time ago |",
  "| b.ts | 7 | |",
  "```ts",
  'const a = "x"; // said',
  "# no heading",
  "```",
  "---",
  "2 * 3 * 4 and snake_case_name stay",
].join("\n");

function stream(text: string, size: number): ChatState {
  let state = update(openState(about, noTotals), { type: "said", text: "go" });
  for (let at = 0; at < text.length; at += size) {
    state = update(state, {
      type: "part",
      part: { type: "text", text: text.slice(at, at + size) },
    });
  }
  return update(state, noticeOf("info", "end"));
}

function shown(state: ChatState, width: number, colours = false): readonly string[] {
  const { lines } = drawItems(state.items, nothingPrinted, { width, colours, markdown: true });
  return lines.slice(2, -2);
}

describe("a reply on a screen", () => {
  test("is shown as Markdown means it", () => {
    expect(shown(stream(reply, 1000), 44)).toEqual(
      [
        "What I found",
        "",
        "The build is red: see src/a.ts and the docs",
        "(https://example.com/docs).",
        "1. Rename the import, which is a long line",
        "   that has to wrap",
        "   • ☑ done",
        "│ quoted",
        "",
        "file  lines  why",
        "────────────────────────────────────────",
        "a.ts  1,402  it was renamed some time ago",
        "b.ts      7",
        "─── ts",
        '  const a = "x"; // said',
        "  # no heading",
        "───",
        "────────────────────────────────────────────",
        "2 * 3 * 4 and snake_case_name stay",
      ].map((line) => (line.startsWith("──────") && line.length === 40 ? "─".repeat(41) : line)),
    );
  });

  test.each([1, 2, 3, 7, 64])(
    "looks the same however it streams in: %d characters at a time",
    (size) => {
      for (const width of [24, 60, 100, 160]) {
        expect(shown(stream(reply, size), width)).toEqual(shown(stream(reply, 1000), width));
      }
    },
  );

  test.each([20, 24, 40, 60, 100])("is never wider than a window of %d columns", (width) => {
    const lines = shown(stream(reply, 1000), width);
    expect(lines.filter((line) => widthOf(line) > width)).toEqual([]);
  });

  test("has colours where the terminal has them, and none where it has not", () => {
    const painted = shown(stream(reply, 1000), 60, true).join("\n");
    expect(painted).toContain("The build is \u001b[1mred\u001b[22m");
    expect(painted).toContain(
      '\u001b[35mconst\u001b[39m a = \u001b[32m"x"\u001b[39m; \u001b[2m// said',
    );
    expect(shown(stream(reply, 1000), 60).join("\n")).not.toContain("\u001b");
  });

  test("prints each finished line once: only the line that is written, or a table, is drawn again", () => {
    let state = update(openState(about, noTotals), { type: "said", text: "go" });
    let printed = nothingPrinted;
    const all: string[] = [];
    let openMax = 0;
    for (const text of reply) {
      state = update(state, { type: "part", part: { type: "text", text } });
      const drawn = drawItems(state.items, printed, { width: 60, colours: false, markdown: true });
      ({ printed } = drawn);
      all.push(...drawn.lines);
      openMax = Math.max(openMax, drawn.open.length);
    }
    state = update(state, noticeOf("info", "end"));
    all.push(
      ...drawItems(state.items, printed, { width: 60, colours: false, markdown: true }).lines,
    );
    expect(all.slice(2, -2)).toEqual(shown(state, 60));
    expect(openMax).toBeLessThanOrEqual(6);
  });

  test("steers no terminal, and rows that are no table stay as they are", () => {
    const hostile = "**a\u001b[2J** `b\u001b]0;x\u0007`\n\n| only | rows |\n| of | words |\nend";
    expect(shown(stream(hostile, 3), 60)).toEqual([
      "a b",
      "",
      "| only | rows |",
      "| of | words |",
      "end",
    ]);
  });
});
