// For tests: states made of events, and a terminal small enough to check every cell of.
import { noTotals, openState, type ChatAbout, type ChatState } from "./state.ts";
import { update, type ChatEvent } from "./update.ts";

export const about: ChatAbout = {
  sessionId: "s1",
  model: "claude-sonnet-5-5",
  windowTokens: 200_000,
  isSimulated: false,
  workspace: "/project",
};

export const blank: ChatState = openState(about, noTotals);

export function after(...events: readonly ChatEvent[]): ChatState {
  return events.reduce(update, blank);
}

export function token(text: string): ChatEvent {
  return { type: "part", part: { type: "text", text } };
}

export function noticed(text: string): ChatEvent {
  return { type: "noticed", level: "info", text };
}

export interface TinyTerminal {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
  /** Everything that was ever above, and what is on the screen. */
  lines(): readonly string[];
  cursor(): { readonly line: number; readonly column: number };
}

/** Knows what a chat writes and nothing more. Every character takes one cell. */
export function createTinyTerminal(columns: number, rows: number): TinyTerminal {
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
