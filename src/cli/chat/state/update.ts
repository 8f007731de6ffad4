// Event → the next state. Pure: all effects are in chat-session.ts.
import type { TurnPart } from "../../../engine/turn/turn-handle.ts";
import { formatTokens } from "../../../replay/format-figures.ts";
import { addLine } from "./answer-lines.ts";
import type { ContextView } from "./context-view.ts";
import { editLine, insertText, takeLine, withHistory, type Key } from "../terminal/line-editor.ts";
import { describeRoute } from "../words/model-words.ts";
import {
  isOpen,
  openState,
  type ChatAbout,
  type ChatState,
  type Item,
  type Notice,
  type ShownTurn,
  type Totals,
  type ToolItem,
  type Question,
} from "./state.ts";
import { countBytes } from "../../../core/layers/cut-middle.ts";
import type { ToolResultBlock } from "../../../core/message/message.ts";
import { toPlainLine } from "../words/plain-text.ts";
import { aboutUse } from "../words/tool-words.ts";

export type ChatEvent =
  /** The first session, or a switch to another. */
  | { readonly type: "opened"; readonly about: ChatAbout; readonly totals: Totals }
  /** The same session with another model. */
  | { readonly type: "moved"; readonly about: ChatAbout }
  | { readonly type: "said"; readonly text: string }
  /** A slash command as typed. */
  | { readonly type: "commanded"; readonly text: string }
  | { readonly type: "part"; readonly part: TurnPart }
  | { readonly type: "counted"; readonly totals: Totals }
  | { readonly type: "stopping" }
  | { readonly type: "tick"; readonly seconds: number }
  | ({ readonly type: "noticed" } & Notice)
  | { readonly type: "reported"; readonly text: string }
  | { readonly type: "context"; readonly view: ContextView }
  | QuestionEvent
  | { readonly type: "key"; readonly key: Key }
  /** The line was submitted. */
  | { readonly type: "entered" }
  /** Nothing of what happened is shown any more. */
  | { readonly type: "cleared" }
  /** What Tab adds to the line, and what it could not choose between. */
  | { readonly type: "completed"; readonly text: string; readonly hint: string }
  /** Input of earlier chats, oldest first. */
  | { readonly type: "remembered"; readonly lines: readonly string[] }
  | { readonly type: "quitting"; readonly isQuitting: boolean };

export type Emit = (event: ChatEvent) => void;

export function noticeOf(level: Notice["level"], text: string): ChatEvent {
  return { type: "noticed", level, text };
}

export function update(state: ChatState, event: ChatEvent): ChatState {
  switch (event.type) {
    case "opened":
      return { ...openState(event.about, event.totals), items: state.items, editor: state.editor };
    case "moved":
      return { ...state, about: event.about };
    case "said": {
      const isSteering = state.turn !== null;
      const { text } = event;
      return { ...add(state, { kind: "person", text, isSteering }), turn: state.turn ?? newTurn };
    }
    case "commanded":
      return add(state, { kind: "command", text: event.text });
    case "part":
      return updatePart(state, event.part);
    case "counted":
      return { ...state, totals: event.totals };
    case "stopping":
      return withTurn(state, { isStopping: true });
    case "tick":
      return withTurn(state, { seconds: event.seconds });
    case "noticed":
      return add(state, { kind: "notice", level: event.level, text: event.text });
    case "reported":
      return add(state, { kind: "report", text: event.text });
    case "context":
      return add(state, { kind: "context", view: event.view });
    case "asked":
    case "ready":
    case "answered":
      return updateQuestions(closeAnswer(state), event);
    case "key":
      return { ...state, editor: editLine(state.editor, event.key), isQuitting: false, hint: "" };
    case "entered":
      return { ...state, editor: takeLine(state.editor), isQuitting: false, hint: "" };
    case "cleared":
      return { ...state, items: [], hint: "" };
    case "completed":
      return { ...state, editor: insertText(state.editor, event.text), hint: event.hint };
    case "remembered":
      return { ...state, editor: withHistory(state.editor, event.lines) };
    case "quitting":
      return { ...state, isQuitting: event.isQuitting };
  }
}

const newTurn: ShownTurn = {
  phase: "preparing",
  isThinking: false,
  isStopping: false,
  seconds: 0,
};

function updatePart(state: ChatState, part: TurnPart): ChatState {
  switch (part.type) {
    case "queued":
    case "started":
      return { ...state, turn: state.turn ?? newTurn, lastMiss: null };
    case "miss":
      return { ...state, lastMiss: describeMiss(part.miss) };
    case "route": {
      const words = describeRoute(part);
      return words === null ? state : add(state, { kind: "notice", ...words });
    }
    case "text":
      return addWords(withTurn(state, { isThinking: false }), part.text);
    case "thinking":
      return withTurn(state, { isThinking: true });
    case "phase":
      return withTurn(closeAnswer(state), { phase: part.phase, isThinking: false });
    case "tool":
      return updateTool(withTurn(closeAnswer(state), { isThinking: false }), part);
    case "ended":
    case "failed":
      return { ...closeAll(state), turn: null, questions: [] };
  }
}

/** For the status line, such as `lost 3.3k: lifetime expired`. */
function describeMiss({ cause, lost_tokens: lost }: MissPart["miss"]): string {
  return `lost ${formatTokens(lost)}: ${cause}`;
}

type MissPart = Extract<TurnPart, { readonly type: "miss" }>;

/** Each line is an item, so that the renderer can forget finished ones. */
function addWords(state: ChatState, text: string): ChatState {
  const open = state.items.at(-1);
  const isGoingOn = open?.kind === "answer" && open.isOpen;
  // Skips blank lines before the first word.
  const words = isGoingOn ? open.text + text : text.replace(/^\s*\n/, "");
  const [first = "", ...more] = words.split("\n");
  if (!isGoingOn && more.length === 0 && first.trim() === "") return state;
  const isFirst = isGoingOn ? open.isFirst : true;
  let items = isGoingOn ? state.items.slice(0, -1) : state.items;
  for (const [index, line] of [first, ...more].entries()) {
    const how = { isOpen: index === more.length, isFirst: isFirst && index === 0 };
    items = addLine(items, line, how);
  }
  return { ...state, items };
}

function closeAnswer(state: ChatState): ChatState {
  const last = state.items.at(-1);
  if (last?.kind !== "answer" || !last.isOpen) return state;
  const rest = state.items.slice(0, -1);
  const { isFirst, text } = last;
  const before = text.trim() === "" ? rest : addLine(rest, text, { isFirst, isOpen: false });
  // A table ends where the reply does.
  const table = before.at(-1);
  return {
    ...state,
    items:
      table?.kind === "answer" && table.isOpen
        ? [...before.slice(0, -1), { ...table, isOpen: false }]
        : before,
  };
}

function closeAll(state: ChatState): ChatState {
  const items = closeAnswer(state).items.map((item): Item =>
    item.kind === "tool" && isOpen(item) ? { ...item, status: "cancelled" } : item,
  );
  return { ...state, items };
}

/** Adds an item after the text of the agent, which ends there. */
function add(state: ChatState, item: Item): ChatState {
  return { ...state, items: [...closeAnswer(state).items, item] };
}

function withTurn(state: ChatState, change: Partial<ShownTurn>): ChatState {
  return state.turn === null ? state : { ...state, turn: { ...state.turn, ...change } };
}

type ToolStatus = Extract<TurnPart, { readonly type: "tool" }>;

/** A tool use is one item from its request to its result. */
function updateTool(state: ChatState, part: ToolStatus): ChatState {
  const at = state.items.findLastIndex(
    (item) => item.kind === "tool" && item.toolUseId === part.toolUseId && isOpen(item),
  );
  const found = state.items[at];
  const { toolUseId, name, status, use, result } = part;
  const after: ToolItem = {
    kind: "tool",
    toolUseId,
    name: toPlainLine(name),
    ...(found?.kind === "tool" ? found : { about: "", bytes: null, problem: null }),
    status,
    ...(use === undefined ? {} : { about: aboutUse(use.inputJson) }),
    ...(result === undefined ? {} : describeResult(result)),
  };
  const items = at === -1 ? [...state.items, after] : state.items.with(at, after);
  return { ...state, items };
}

function describeResult(result: ToolResultBlock): Pick<ToolItem, "bytes" | "problem"> {
  const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  const problem = result.isError ? toPlainLine(text.slice(0, 2000)) : null;
  return { bytes: countBytes(text), problem };
}

type QuestionEvent =
  | { readonly type: "asked"; readonly question: Question }
  | { readonly type: "ready"; readonly id: string }
  | { readonly type: "answered"; readonly id: string };

/** Asks one question at a time and shows its preview with it. */
function updateQuestions(state: ChatState, event: QuestionEvent): ChatState {
  const questions = nextQuestions(state.questions, event);
  const [first] = questions;
  const isNew = first !== undefined && first.id !== state.questions[0]?.id;
  const items = isNew ? withPreview(state.items, first) : state.items;
  return { ...state, questions, items };
}

function nextQuestions(questions: readonly Question[], event: QuestionEvent): readonly Question[] {
  switch (event.type) {
    case "asked":
      return [...questions, event.question];
    case "ready":
      return questions.map((each) => (each.id === event.id ? { ...each, isReady: true } : each));
    case "answered":
      return questions.filter(({ id }) => id !== event.id);
  }
}

/** Inserts it before items that may still change, so that it is printed in full and never cut to the window. */
function withPreview(items: readonly Item[], question: Question): readonly Item[] {
  const { toolName, preview: lines } = question;
  const open = items.findIndex(isOpen);
  return items.toSpliced(open === -1 ? items.length : open, 0, {
    kind: "preview",
    toolName,
    lines,
  });
}
