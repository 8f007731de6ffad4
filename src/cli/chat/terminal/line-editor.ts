// The line editor as a value: keys → the line, the cursor, and the history.
import { charactersOf } from "../words/text-width.ts";

export interface Editor {
  readonly text: string;
  /** A string index, always between two graphemes. */
  readonly cursor: number;
  readonly history: readonly string[];
  /** Index of the shown history line; the history length for the new line. */
  readonly at: number;
  /** The new line, while an old one is shown. */
  readonly draft: string;
  /** Between the paste-start and paste-end keys of the terminal. */
  readonly isPasting: boolean;
}

export const emptyEditor: Editor = {
  text: "",
  cursor: 0,
  history: [],
  at: 0,
  draft: "",
  isPasting: false,
};

/** A key as node:readline reports it. */
export interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

const historyMax = 500;

export function editLine(editor: Editor, key: Key): Editor {
  const { text, cursor, isPasting } = editor;
  if (key.name === "paste-start" || key.name === "paste-end") {
    return { ...editor, isPasting: key.name === "paste-start" };
  }
  // The paste-end key may never come.
  if (isPasting && isInterrupt(key)) return { ...editor, isPasting: false };
  if (isPasting) return insert(editor, pastedText(key));
  const edit = editOf(key);
  switch (edit) {
    case "left":
      return { ...editor, cursor: before(text, cursor) };
    case "right":
      return { ...editor, cursor: after(text, cursor) };
    case "home":
      return { ...editor, cursor: 0 };
    case "end":
      return { ...editor, cursor: text.length };
    case "delete left":
      return cut(editor, before(text, cursor), cursor);
    case "delete right":
      return cut(editor, cursor, after(text, cursor));
    case "delete word":
      return cut(editor, text.slice(0, cursor).search(/\S+\s*$/), cursor);
    case "delete to start":
      return cut(editor, 0, cursor);
    case "delete to end":
      return cut(editor, cursor, text.length);
    case "older":
      return show(editor, editor.at - 1);
    case "newer":
      return show(editor, editor.at + 1);
    case "new line":
      return insert(editor, "\n");
    case null:
      return insert(editor, typedText(key));
  }
}

function isInterrupt({ ctrl, name }: Key): boolean {
  return ctrl === true && name === "c";
}

/** Empties the line and adds it to the history. */
export function takeLine(editor: Editor): Editor {
  const { text, history } = editor;
  const isNew = text.trim() !== "" && history.at(-1) !== text;
  const longer = isNew ? [...history, text].slice(-historyMax) : history;
  return { ...emptyEditor, history: longer, at: longer.length };
}

type Edit =
  | "left"
  | "right"
  | "home"
  | "end"
  | "delete left"
  | "delete right"
  | "delete word"
  | "delete to start"
  | "delete to end"
  | "older"
  | "newer"
  | "new line";

const plainKeys: Readonly<Record<string, Edit>> = {
  left: "left",
  right: "right",
  home: "home",
  end: "end",
  backspace: "delete left",
  delete: "delete right",
  up: "older",
  down: "newer",
};

const controlKeys: Readonly<Record<string, Edit>> = {
  b: "left",
  f: "right",
  a: "home",
  e: "end",
  h: "delete left",
  d: "delete right",
  w: "delete word",
  u: "delete to start",
  k: "delete to end",
  p: "older",
  n: "newer",
};

function editOf({ name = "", ctrl, meta }: Key): Edit | null {
  if (meta === true) return name === "return" || name === "enter" ? "new line" : null;
  return (ctrl === true ? controlKeys[name] : plainKeys[name]) ?? null;
}

/** Keys without text, such as F5, add nothing. */
function typedText({ sequence = "", ctrl, meta }: Key): string {
  return ctrl === true || meta === true || /\p{Cc}/u.test(sequence) ? "" : sequence;
}

function pastedText({ sequence = "" }: Key): string {
  return sequence.replace(/\r\n?/g, "\n").replace(/(?![\n\t])\p{Cc}/gu, "");
}

function insert(editor: Editor, typed: string): Editor {
  const { text, cursor } = editor;
  if (typed === "") return editor;
  const head = text.slice(0, cursor) + typed;
  return { ...editor, text: head + text.slice(cursor), cursor: head.length };
}

function cut(editor: Editor, from: number, to: number): Editor {
  const start = Math.max(0, from);
  const text = editor.text.slice(0, start) + editor.text.slice(to);
  return { ...editor, text, cursor: start };
}

function show(editor: Editor, at: number): Editor {
  const { history, text } = editor;
  if (at < 0 || at > history.length) return editor;
  const draft = editor.at === history.length ? text : editor.draft;
  const shown = history[at] ?? draft;
  return { ...editor, at, draft, text: shown, cursor: shown.length };
}

function before(text: string, cursor: number): number {
  return cursor - (charactersOf(text.slice(0, cursor)).at(-1)?.length ?? 0);
}

function after(text: string, cursor: number): number {
  return cursor + (charactersOf(text.slice(cursor))[0]?.length ?? 0);
}
