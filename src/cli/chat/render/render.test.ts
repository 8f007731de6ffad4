import * as fc from "fast-check";
import { expect, test } from "vitest";
import { renderCost } from "../slash/run-slash.ts";
import { renderFarewell } from "../words/greeting.ts";
import type { TurnPart } from "../../../engine/turn/turn-handle.ts";
import type { ContextView } from "../state/context-view.ts";
import { draw, nothingPrinted } from "./render.ts";
import { createScreen } from "../terminal/screen.ts";
import { after, blank, noticed, token } from "../state/test-kit.ts";
import { noTotals, type ChatState, type Totals } from "../state/state.ts";
import { update, type ChatEvent } from "../state/update.ts";

const options = { width: 60, colours: false };

/** Draws everything, for an empty screen. */
function render(state: ChatState, given: typeof options): readonly string[] {
  const { lines, live } = draw(state, nothingPrinted, given);
  return [...lines, ...live];
}

const usage: Totals["usage"] = {
  uncachedTokens: 100,
  cacheReadTokens: 8700,
  cacheWriteTokens: { "5m": 1200 },
  outputTokens: 300,
  reasoningTokens: 0,
};
const totals: Totals = {
  ...noTotals,
  usage,
  told: usage,
  callCount: 3,
  costPicoUsd: 12_300_000_000n,
  unpricedCount: 0,
  savedPicoUsd: 45_600_000_000n,
  savedTokens: 7_530,
  contextTokens: 12_300,
};

const use = { type: "tool_use", id: "u1", name: "read", inputJson: '{"path":"a.ts"}' } as const;
const status = { type: "tool", toolUseId: "u1", name: "read" } as const;
const running: ChatEvent = { type: "part", part: { ...status, status: "running", use } };
const result = {
  type: "tool_result",
  toolUseId: "u1",
  content: [{ type: "text", text: "x".repeat(1234) }],
  isError: false,
} as const;
const read: ChatEvent = { type: "part", part: { ...status, status: "succeeded", result } };
const said: ChatEvent = { type: "said", text: "What is here?" };

test("a conversation reads from top to bottom, with the figures and the line below it", () => {
  const state = after(said, token("I look.\n"), running, read, token("A file."), {
    type: "counted",
    totals,
  });
  expect(render(state, { ...options, width: 90 })).toEqual([
    "> What is here?",
    "",
    "I look.",
    "  ✓ read a.ts  1.2 kB",
    "",
    "A file.",
    "",
    "preparing · 12.3k of 200.0k (6 %) · 87 % cached · $0.0123 · saved $0.0456",
    "> ",
  ]);
});

test("long lines are wrapped, and wide characters take two columns", () => {
  const state = after(noticed("日本語のテキスト and words"));
  expect(render(state, { ...options, width: 20 }).slice(0, 2)).toEqual([
    "日本語のテキスト and",
    "words",
  ]);
});

test("a failed tool shows the reason on its line", () => {
  const content = [{ type: "text", text: "not_found: there is no file a.ts" }] as const;
  const failed = { ...result, content, isError: true };
  const state = after(said, running, {
    type: "part",
    part: { ...status, status: "failed", result: failed },
  });
  expect(render(state, options)[2]).toBe("  ✗ read a.ts  not_found: there is no file a.ts");
  expect(render(state, { ...options, width: 30 })[2]).toBe("  ✗ read a.ts  not_found: the…");
});

test("a question shows what would be done, and typed text stays visible", () => {
  const preview = ["$ rm -rf build"];
  const question = { id: "1", toolName: "bash", preview, isReady: true };
  const asked = after(said, { type: "asked", question });
  expect(render(asked, options).slice(2, 4)).toEqual(["? bash", "  $ rm -rf build"]);
  expect(render(asked, options).slice(-1)).toEqual(["Allow bash? y yes · n no · a always bash"]);
  const typing = update(asked, { type: "key", key: { name: "w", sequence: "w" } });
  expect(render(typing, options).slice(-2)).toEqual([
    "Allow bash? on an empty line: y, n or a",
    "> w",
  ]);
});

test("the preview of a question is printed in full, before tools that run", () => {
  const preview = Array.from({ length: 40 }, (_, index) => `$ echo ${index}`);
  const question = { id: "1", toolName: "bash", preview, isReady: true };
  const asked = after(said, running, { type: "asked", question });
  const { lines, live } = draw(asked, nothingPrinted, options);
  expect(lines.slice(2)).toEqual(["", "? bash", ...preview.map((line) => `  ${line}`)].slice(1));
  expect(live.at(-1)).toBe("Allow bash? (40 lines above) y yes · n no · a always bash");
});

function ask(id: string, toolName: string): ChatEvent {
  const question = { id, toolName, preview: [`$ ${toolName}`], isReady: true };
  return { type: "asked", question };
}

test("each of several questions shows its preview when it is asked", () => {
  const both = after(said, ask("1", "bash"), ask("2", "write"));
  expect(render(both, options)).toContain("  $ bash");
  expect(render(both, options)).not.toContain("  $ write");
  const next = update(both, { type: "answered", id: "1" });
  expect(render(next, options)).toContain("  $ write");
});

test("the cursor is drawn at its place, also between wide characters and on later lines", () => {
  const text = "日本\nab";
  const state = { ...blank, editor: { ...blank.editor, text, cursor: 2 } };
  expect(draw(state, nothingPrinted, options).cursor).toEqual({ line: 2, column: 6 });
  const end = { ...blank, editor: { ...blank.editor, text, cursor: 5 } };
  expect(draw(end, nothingPrinted, options).cursor).toEqual({ line: 3, column: 4 });
});

test("parts that do not fit the status line are left out from the right", () => {
  const state = after({ type: "counted", totals });
  expect(render(state, { ...options, width: 40 }).at(-2)).toBe(
    "12.3k of 200.0k (6 %) · 87 % cached",
  );
});

test("a server of one's own is shown in seconds of reading instead of dollars", () => {
  const local = { ...totals, costPicoUsd: 0n, savedPicoUsd: 0n, prefillMs: 1250 };
  expect(statusOf(local)).toContain("87 % cached · 1.3 s of reading");
  expect(statusOf({ ...local, costPicoUsd: 5_000_000_000n })).toContain("87 % cached · $0.0050");
  const state = after({ type: "counted", totals: local });
  expect(renderFarewell(state, [])).toMatch(/^1\.3 s of reading/);
  expect(statusOf({ ...local, told: noTotals.told })).toMatch(/\(6 %\) · 1\.3 s of reading/);
});

function statusOf(shown: Totals): string | undefined {
  return render(after({ type: "counted", totals: shown }), { ...options, width: 60 }).at(-2);
}

test("the status line says in a few words what the turn lost of the cache, until the next turn", () => {
  const miss: TurnPart = {
    type: "miss",
    callNumber: 2,
    miss: {
      cause: "lifetime expired",
      detail: "after 120 min",
      expected_read_tokens: 3300,
      reported_read_tokens: 0,
      lost_tokens: 3300,
      lost_cost_usd: "0.0114",
      block_tier: null,
      block_label: null,
      block_index: null,
      block_byte_offset: null,
      block_before_hash: null,
      block_after_hash: null,
    },
  };
  const lost = after({ type: "counted", totals }, { type: "part", part: miss });
  const wide = { ...options, width: 120 };
  expect(render(lost, wide).at(-2)).toContain(" · 87 % cached · lost 3.3k: lifetime expired · $");
  const next = update(lost, { type: "part", part: { type: "started", turnId: "t" } });
  expect(render(next, wide).at(-2)).not.toContain("lost");
});

test("calls without a price are not shown as free", () => {
  const wide = { ...options, width: 120 };
  const known = { ...totals, unpricedCount: 2 };
  expect(render(after({ type: "counted", totals: known }), wide).at(-2)).toContain(
    " · ≥ $0.0123, 2 calls without a price · ",
  );
  const none = { ...totals, costPicoUsd: 0n, unpricedCount: 3, savedPicoUsd: null };
  const state = after({ type: "counted", totals: none });
  expect(render(state, wide).at(-2)).toContain(" · unknown: 3 calls without a price · ");
  expect(renderCost(state)).toContain("unknown: 3 calls without a price for ");
  expect(renderFarewell(state, [])).toMatch(/^unknown: 3 calls without a price, /);
});

test("a cache that has not paid yet is not shown as a saving", () => {
  const counted = { ...totals, savedPicoUsd: -1_800_000_000n };
  const [, line] = render(after({ type: "counted", totals: counted }), { ...options, width: 100 });
  expect(line).toContain("$0.0018 not yet saved");
});

test("/context draws what fills the window by tier and section", () => {
  const view: ContextView = {
    windowTokens: 100_000,
    usedTokens: 40_000,
    reservedTokens: 10_000,
    freeTokens: 50_000,
    tiers: [
      { tier: "T0", name: "tools", tokens: 10_000, parts: [{ name: "read", tokens: 10_000 }] },
      { tier: "T3", name: "conversation", tokens: 30_000, parts: [] },
    ],
  };
  const lines = render(after({ type: "context", view }), { ...options, width: 42 });
  expect(lines.slice(0, 7)).toEqual([
    "Context: 40.0k of 100.0k tokens, 40.0 %",
    "[████■■■■■■■■■■■■····················~~~~]",
    "█ T0 tools                  10.0k   10.0 %",
    "    read 10.0k",
    "■ T3 conversation           30.0k   30.0 %",
    "   free for this turn       50.0k   50.0 %",
    "   kept for replies and …   10.0k   10.0 %",
  ]);
});

const words = fc.constantFrom(
  "a",
  "word ",
  "\n",
  "longer words here ",
  "\u001b[3",
  "1m",
  "\u009b2J",
  "\r",
  "**bold** ",
  "`",
  "*",
  "[the docs](https://",
  "| a | longer cell |\n",
  "|---|---|\n",
  "```ts\n",
  "- item ",
  "# head ",
);
const happenings: fc.Arbitrary<ChatEvent> = fc.oneof(
  words.map((text) => token(text)),
  fc.constantFrom<ChatEvent>(said, running, read, noticed("mind\u001b]0;x\u0007 this")),
  fc.constant<ChatEvent>({ type: "part", part: { type: "failed", error: null } }),
  fc.constant<ChatEvent>({ type: "key", key: { name: "x", sequence: "x" } }),
  fc.constant<ChatEvent>({ type: "entered" }),
);

test("no control character is ever drawn without colours", () => {
  fc.assert(
    fc.property(fc.array(happenings), (events) => {
      const lines = render(after(...events), options);
      for (const line of lines) expect(line).not.toMatch(/\p{Cc}/u);
    }),
  );
});

test("drawing step by step shows the same as drawing everything once", () => {
  fc.assert(
    fc.property(
      fc.array(happenings, { maxLength: 40 }),
      fc.integer({ min: 20, max: 60 }),
      (events, width) => {
        const terminal = createTinyTerminal(width, 1000);
        const screen = createScreen(terminal, false, 0);
        let state = blank;
        for (const event of events) {
          state = update(state, event);
          screen.show(state);
        }
        screen.show(state);
        const onScreen = { width, colours: false, markdown: true };
        const expected = render(state, onScreen);
        expect(terminal.lines()).toEqual(expected.map((line) => line.trimEnd()));
        const { live, cursor } = draw(state, nothingPrinted, onScreen);
        const from = expected.length - live.length;
        expect(terminal.cursor()).toEqual({ line: from + cursor.line, column: cursor.column });
      },
    ),
  );
});

test("the lines below the finished ones are erased at the end", () => {
  const terminal = createTinyTerminal(60, 24);
  const screen = createScreen(terminal, false, 0);
  screen.show(after(said, token("Done.")));
  screen.show(after(said, token("Done."), { type: "part", part: { type: "failed", error: 0 } }));
  screen.end();
  expect(terminal.lines()).toEqual(["> What is here?", "", "Done.", ""]);
});

test("a drawing taller than the window is cut at the top, so that it can be redrawn", () => {
  const terminal = createTinyTerminal(60, 5);
  const screen = createScreen(terminal, false, 0);
  const notices = Array.from({ length: 10 }, (_, index) => noticed(`notice ${index}`));
  const state = after(said, running, ...notices);
  screen.show(state);
  screen.show(state);
  expect(terminal.lines()).toEqual(["> What is here?", "notice 9", "", expect.any(String), ">"]);
});

interface TinyTerminal {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
  /** Everything that was ever above, and what is on the screen. */
  lines(): readonly string[];
  cursor(): { readonly line: number; readonly column: number };
}

/** Knows what a chat writes and nothing more. Every character takes one cell. */
function createTinyTerminal(columns: number, rows: number): TinyTerminal {
  const cells: string[] = [""];
  let [line, column] = [0, 0];
  const put = (character: string): void => {
    const row = (cells[line] ?? "").padEnd(column);
    cells[line] = row.slice(0, column) + character + row.slice(column + 1);
    column += 1;
  };
  const obey = (count: number, letter: string): void => {
    if (letter === "A") line = Math.max(0, line - count);
    else if (letter === "C") column += count;
    else if (letter === "J") {
      cells[line] = (cells[line] ?? "").slice(0, column);
      cells.splice(line + 1);
    } else throw new Error(`the tiny terminal does not know ${letter}`);
  };
  return {
    columns,
    rows,
    write: (text) => {
      const pieces = text.matchAll(/\u001b\[\?\d+[hl]|\u001b\[(\d*)([A-Z])|[\s\S]/g); // oxlint-disable-line no-control-regex
      for (const [piece, count, letter] of pieces) {
        if (letter !== undefined) obey(Number(count === "" ? 1 : count), letter);
        else if (piece === "\r") column = 0;
        else if (piece === "\n") {
          line += 1;
          cells[line] ??= "";
        } else if (!piece.startsWith("\u001b")) put(piece);
      }
    },
    lines: () => cells.map((row) => row.trimEnd()),
    cursor: () => ({ line, column }),
  };
}
