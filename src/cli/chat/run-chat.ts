// Runs one chat: opens it, runs it on a terminal or line by line, and closes it.
import type { ReadStream, WriteStream } from "node:tty";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Confirm } from "../../edge/tools/dispatch/confirmation.ts";
import type { TurnEnding } from "../../engine.ts";
import type { Engine } from "../../engine/session/create-engine.ts";
import type { EngineSession } from "../../engine/session/engine-session.ts";
import type { Io } from "../command.ts";
import { openChatSession, type ChatSetup } from "./session/chat-session.ts";
import {
  confirmByTelling,
  type Confirmations,
  type ConfirmationsSetup,
} from "./session/confirmations.ts";
import { goOn } from "./session/go-on.ts";
import { renderFarewell, renderGreeting } from "./words/greeting.ts";
import { runLines } from "./line-mode.ts";
import { describeChange } from "./words/model-words.ts";
import { watchOutside, type Outside } from "./outside.ts";
import { waitForTurn } from "./session/wait-for-turn.ts";
import type { SlashContext, SlashPlace } from "./slash/run-slash.ts";
import { createScreen, type Screen } from "./terminal/screen.ts";
import { noTotals, openState, type ChatState } from "./state/state.ts";
import { runTerminal } from "./terminal/terminal.ts";
import { update, type ChatEvent } from "./state/update.ts";
import { createAnswerView, createJsonView, createTextView, type View } from "./render/views.ts";

/** An engine, with what the chat needs to know about it. */
export interface OpenedChat extends Omit<ChatSetup, "tell">, SlashPlace {
  readonly engine: Engine;
  readonly ledger: Ledger;
  /** The session to resume; null for a new one. */
  readonly resumed: string | null;
  close(): Promise<void>;
}

export interface ChatDeps {
  readonly open: (asks: {
    readonly confirm: Confirm;
    readonly onNotice: (text: string) => void;
  }) => Promise<OpenedChat>;
  readonly whom: ConfirmationsSetup["whom"];
  /** The terminal; null if there is none. */
  readonly terminal: { readonly input: ReadStream; readonly output: WriteStream } | null;
  /** The input if there is no terminal. */
  readonly lines: AsyncIterable<string>;
  readonly colours: boolean;
  /** Without a terminal: the width to wrap lines at; not wrapped by default. */
  readonly width?: number;
  /** Without a terminal: whether the status line follows each turn. */
  readonly showsStatus?: boolean;
}

export interface ChatWish {
  /** Sent instead of typed input. */
  readonly prompt: string | null;
  readonly isJson: boolean;
  /** Whether tools run without asking. */
  readonly isAllowed: boolean;
  /** The model of a new session, or the new model of a resumed one; the configured model by default. */
  readonly model: string | null;
}

/** Returns the exit status. */
export async function runChat(wish: ChatWish, deps: ChatDeps, io: Io): Promise<number> {
  const over = Promise.withResolvers<void>();
  const outside = watchOutside(io, over.promise);
  try {
    const ending = await openAndTalk(wish, deps, io, outside);
    return outside.status() ?? statuses[ending];
  } finally {
    outside.close();
    over.resolve();
  }
}

const statuses: Readonly<Record<TurnEnding, number>> = {
  done: 0,
  failed: 1,
  "cut off": 1,
  "too many calls": 1,
  cancelled: 130,
};

async function openAndTalk(
  wish: ChatWish,
  deps: ChatDeps,
  io: Io,
  outside: Outside,
): Promise<TurnEnding> {
  const terminal = wish.prompt === null && !wish.isJson ? deps.terminal : null;
  const screen = terminal === null ? null : createScreen(terminal.output, deps.colours);
  const view = chooseView(wish, screen, deps, io);
  let state = openState(nowhere, noTotals);
  const tell = (event: ChatEvent): void => {
    state = update(state, event);
    view(event, state);
  };
  const confirmations = confirmByTelling(deps.whom, tell);
  const onNotice = (text: string): void => tell({ type: "noticed", level: "info", text });
  const opened = await deps.open({ confirm: confirmations.confirm, onNotice });
  try {
    const talkable = await openSession(opened, wish, io, outside);
    if (talkable === null) return "cancelled";
    const { session, isLeftOpen } = talkable;
    const chat = await openChatSession({ ...opened, tell }, session);
    const context: SlashContext = {
      ...opened,
      chat,
      tell,
      state: () => state,
      outside,
      env: io.env,
    };
    if (opened.resumed !== null && wish.model !== null) {
      tell({
        type: "noticed",
        level: "info",
        text: describeChange(await chat.useModel(wish.model)),
      });
    }
    const talk: Talk = { wish, deps, context, confirmations, outside, isLeftOpen };
    const ending = await (terminal === null || screen === null
      ? talkInLines(talk)
      : talkAtTerminal(talk, { ...terminal, screen }));
    const { isRecorded } = chat.session.session;
    if (!wish.isJson) io.error(renderFarewell(state, { isRecorded, typed: opened.typed }));
    return ending;
  } finally {
    await opened.close();
  }
}

const nowhere: ChatState["about"] = {
  sessionId: "",
  model: "",
  windowTokens: 1,
  isSimulated: false,
  workspace: null,
};

function chooseView(wish: ChatWish, screen: Screen | null, deps: ChatDeps, io: Io): View {
  if (wish.isJson) return createJsonView(io);
  const { colours, width = Number.POSITIVE_INFINITY, showsStatus = false } = deps;
  const options = { width, colours };
  if (wish.prompt !== null) return createAnswerView(io, options);
  // Before a session is open there is no screen to draw notices on.
  if (screen !== null) return (_, state) => state.about !== nowhere && screen.show(state);
  return createTextView(io, { ...options, showsStatus });
}

/** Null if the user gave up waiting for it. */
async function openSession(
  { engine, ledger, resumed }: OpenedChat,
  { model }: ChatWish,
  { error }: Io,
  outside: Outside,
): Promise<{ readonly session: EngineSession; readonly isLeftOpen: boolean } | null> {
  if (resumed === null) {
    const session = await engine.open(model === null ? {} : { model });
    return { session, isLeftOpen: false };
  }
  const say = (text: string): void => error(`${text} Ctrl-C gives up.\n`);
  const turn = await waitForTurn(ledger, resumed, { say, outside });
  if (turn === "given up") return null;
  return { session: await engine.resume(resumed), isLeftOpen: turn === "left open" };
}

interface Talk {
  readonly wish: ChatWish;
  readonly deps: ChatDeps;
  readonly context: SlashContext;
  readonly confirmations: Confirmations;
  readonly outside: Outside;
  readonly isLeftOpen: boolean;
}

async function talkInLines(talk: Talk): Promise<TurnEnding> {
  const { wish, deps, context, outside, isLeftOpen } = talk;
  const { chat } = context;
  void outside.ended.then(() => (chat.isBusy ? chat.stop() : null));
  if (isLeftOpen) await goOn(context);
  if (outside.isEnded()) return "cancelled";
  return wish.prompt === null
    ? await runLines(context, deps.lines, outside)
    : await chat.say(wish.prompt);
}

async function talkAtTerminal(
  { context, confirmations, isLeftOpen }: Talk,
  terminal: { readonly input: ReadStream; readonly output: WriteStream; readonly screen: Screen },
): Promise<TurnEnding> {
  const { tell, state, chat, env } = context;
  const text = renderGreeting(state(), chat.session.session, env["HOME"]);
  tell({ type: "reported", text });
  const first = isLeftOpen ? () => goOn(context) : null;
  return runTerminal({ ...context, confirmations, ...terminal }, first);
}
