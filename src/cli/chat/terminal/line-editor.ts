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
  /** What was pasted since the paste-start key. */
  readonly pasted: string;
  /** Long pasted texts of this line; the line has a label for each. */
  readonly folded: readonly string[];
}

export const emptyEditor: Editor = {
  text: "",
  cursor: 0,
  history: [],
  at: 0,
  draft: "",
  isPasting: false,
  pasted: "",
  folded: [],
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
  const { isPasting } = editor;
  if (key.name === "paste-start") return { ...editor, isPasting: true };
  // The paste-end key may never come.
  if (key.name === "paste-end" || (isPasting && isInterrupt(key))) return endPaste(editor);
  if (isPasting) return { ...editor, pasted: editor.pasted + pastedText(key) };
  const edit = editOf(key);
  return edit === null ? insert(editor, typedText(key)) : edit(editor);
}

function isInterrupt({ ctrl, name }: Key): boolean {
  return ctrl === true && name === "c";
}

/** Puts a text at the cursor. */
export function insertText(editor: Editor, text: string): Editor {
  return insert(editor, text);
}

/** With input of earlier chats before that of this one. */
export function withHistory(editor: Editor, lines: readonly string[]): Editor {
  const history = [...lines, ...editor.history].slice(-historyMax);
  return { ...editor, history, at: history.length };
}

/** The line with what was folded. */
export function wholeText({ text, folded }: Pick<Editor, "text" | "folded">): string {
  return folded.reduce(
    (whole, each, index) => whole.replace(labelOf(each, index), () => each),
    text,
  );
}

/** Longer pasted texts are folded. */
const pastedLinesMax = 5;
const pastedCharactersMax = 1000;

function endPaste(editor: Editor): Editor {
  const { pasted, folded } = editor;
  const ended = { ...editor, isPasting: false, pasted: "" };
  const isLong =
    pasted.length > pastedCharactersMax || pasted.split("\n", 9).length > pastedLinesMax;
  if (!isLong) return insert(ended, pasted);
  return insert({ ...ended, folded: [...folded, pasted] }, labelOf(pasted, folded.length));
}

function labelOf(pasted: string, index: number): string {
  const lines = pasted.replace(/\n$/, "").split("\n").length;
  const size = lines === 1 ? `${pasted.length} characters` : `${lines} lines`;
  return `[pasted ${index + 1}: ${size}]`;
}

/** Where the label begins that ends at the cursor; null for none. */
function labelBefore({ text, cursor, folded }: Editor): number | null {
  const head = text.slice(0, cursor);
  const label = folded.map(labelOf).find((each) => head.endsWith(each));
  return label === undefined ? null : cursor - label.length;
}

/** Empties the line and adds it to the history. */
export function takeLine(editor: Editor): Editor {
  const { history } = editor;
  const text = wholeText(editor);
  const isNew = text.trim() !== "" && history.at(-1) !== text;
  const longer = isNew ? [...history, text].slice(-historyMax) : history;
  return { ...emptyEditor, history: longer, at: longer.length };
}

type Edit = (editor: Editor) => Editor;

const left: Edit = (editor) => ({ ...editor, cursor: before(editor) });
const right: Edit = (editor) => ({ ...editor, cursor: after(editor) });
const home: Edit = (editor) => ({ ...editor, cursor: 0 });
const end: Edit = (editor) => ({ ...editor, cursor: editor.text.length });
const deleteLeft: Edit = (editor) =>
  cut(editor, labelBefore(editor) ?? before(editor), editor.cursor);
const deleteRight: Edit = (editor) => cut(editor, editor.cursor, after(editor));
const deleteWord: Edit = (editor) =>
  cut(editor, editor.text.slice(0, editor.cursor).search(/\S+\s*$/), editor.cursor);
const deleteToStart: Edit = (editor) => cut(editor, 0, editor.cursor);
const deleteToEnd: Edit = (editor) => cut(editor, editor.cursor, editor.text.length);
const older: Edit = (editor) => show(editor, editor.at - 1);
const newer: Edit = (editor) => show(editor, editor.at + 1);
const newLine: Edit = (editor) => insert(editor, "\n");

const plainKeys: Readonly<Record<string, Edit>> = {
  left,
  right,
  home,
  end,
  up: older,
  down: newer,
  backspace: deleteLeft,
  delete: deleteRight,
};

/** As in a shell. */
const controlKeys: Readonly<Record<string, Edit>> = {
  b: left,
  f: right,
  a: home,
  e: end,
  p: older,
  n: newer,
  h: deleteLeft,
  d: deleteRight,
  w: deleteWord,
  u: deleteToStart,
  k: deleteToEnd,
};

function editOf({ name = "", ctrl, meta }: Key): Edit | null {
  if (meta === true) return name === "return" || name === "enter" ? newLine : null;
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

function before({ text, cursor }: Editor): number {
  return cursor - (charactersOf(text.slice(0, cursor)).at(-1)?.length ?? 0);
}

function after({ text, cursor }: Editor): number {
  return cursor + (charactersOf(text.slice(cursor))[0]?.length ?? 0);
}
