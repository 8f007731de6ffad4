// Runs one chat: opens it, runs it on a terminal or line by line, and closes it.
import type { ReadStream, WriteStream } from "node:tty";
import type { Confirm } from "../../edge/tools/dispatch/confirmation.ts";
import type { TurnEnding } from "../../engine.ts";
import type { EngineSession } from "../../engine/session/engine-session.ts";
import type { Io } from "../command.ts";
import { openChatSession, type ChatSetup } from "./session/chat-session.ts";
import { createConfirmations, type Permission } from "./session/confirmations.ts";
import { demoFolder, renderFarewell, renderGreeting } from "./words/greeting.ts";
import { refuseTooLong } from "./piped-input.ts";
import { createOwnCommands } from "./input/own-command.ts";
import { openHistory } from "./input/history-file.ts";
import { readDataDirectory } from "../../host/config/environment.ts";
import { createCapWarning } from "./session/cap-warning.ts";
import { runLines } from "./line-mode.ts";
import { describeChange } from "./words/model-words.ts";
import { watchOutside, type Outside } from "./outside.ts";
import { waitForTurn } from "./session/wait-for-turn.ts";
import type { SlashContext, SlashPlace } from "./slash/run-slash.ts";
import { createScreen, type Screen } from "./terminal/screen.ts";
import { noTotals, openState, type ChatState } from "./state/state.ts";
import { runTerminal, type TerminalSetup } from "./terminal/terminal.ts";
import { noticeOf, update, type ChatEvent } from "./state/update.ts";
import { createAnswerView, createJsonView, createTextView, type View } from "./render/views.ts";

/** An engine, with what the chat needs to know about it. */
export interface OpenedChat
  extends Omit<ChatSetup, "emit">, SlashPlace, Pick<SlashContext, "files"> {
  /** The session to resume; null for a new one. */
  readonly resumed: string | null;
  /** The cap on what a session may cost; null for none. */
  readonly capPicoUsd: () => bigint | null;
  close(): Promise<void>;
}

/** How the engine asks the user. */
export interface Asks {
  readonly confirm: Confirm;
  readonly onNotice: (text: string) => void;
}

export interface ChatDeps {
  readonly open: (asks: Asks) => Promise<OpenedChat>;
  readonly permission: Permission;
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

export interface ChatOptions {
  /** Sent instead of typed input. */
  readonly prompt: string | null;
  readonly isJson: boolean;
  /** The model of a new session, or the new model of a resumed one; the configured model by default. */
  readonly model: string | null;
}

/** Returns the exit status. */
export async function runChat(asked: ChatOptions, deps: ChatDeps, io: Io): Promise<number> {
  const over = Promise.withResolvers<void>();
  const outside = watchOutside(io, over.promise);
  try {
    const ending = await openAndTalk(asked, deps, io, outside);
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
  asked: ChatOptions,
  deps: ChatDeps,
  io: Io,
  outside: Outside,
): Promise<TurnEnding> {
  const terminal = asked.prompt === null && !asked.isJson ? deps.terminal : null;
  const screen = terminal === null ? null : createScreen(terminal.output, deps.colours);
  const view = chooseView(asked, screen, deps, io);
  let state = openState(nowhere, noTotals);
  const emit = (event: ChatEvent): void => {
    state = update(state, event);
    view(event, state);
  };
  const confirmations = createConfirmations(deps.permission, emit);
  const opened = await deps.open({
    confirm: confirmations.confirm,
    onNotice: (text) => emit(noticeOf("info", text)),
  });
  try {
    const found = await openSession(opened, asked, io, outside);
    if (found === null) return "cancelled";
    if (opened.isTemporary && terminal === null && !asked.isJson) io.error(`${demoFolder}\n`);
    const warn = createCapWarning(opened.capPicoUsd, emit);
    const told = (event: ChatEvent): void => {
      emit(event);
      if (event.type === "counted" || event.type === "opened")
        warn(event.totals, state.about.sessionId);
    };
    const chat = await openChatSession({ ...opened, emit: told }, found.session);
    const context: SlashContext = {
      ...opened,
      chat,
      emit,
      state: () => state,
      outside,
      env: io.env,
      screen,
      own: null,
    };
    if (opened.resumed !== null && asked.model !== null) {
      emit(noticeOf("info", describeChange(await chat.useModel(asked.model))));
    }
    const resume = opened.resumed === null ? null : () => chat.goOn(found.isLeftOpen);
    const ending =
      terminal === null || screen === null
        ? await talkInLines(asked.prompt ?? deps.lines, context, resume)
        : await talkOnTerminal({ ...context, ...terminal, confirmations, screen }, resume);
    if (!asked.isJson && chat.session.session.isRecorded) {
      io.error(renderFarewell(state, opened.typed));
    }
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

function chooseView(asked: ChatOptions, screen: Screen | null, deps: ChatDeps, io: Io): View {
  if (asked.isJson) return createJsonView(io);
  const { colours, width = Number.POSITIVE_INFINITY, showsStatus = false } = deps;
  const options = { width, colours };
  if (asked.prompt !== null) return createAnswerView(io, options);
  // Before a session is open there is no screen to draw notices on.
  if (screen !== null) return (_, state) => state.about !== nowhere && screen.show(state);
  return createTextView(io, options, showsStatus);
}

/** Null if the user gave up waiting for it. */
async function openSession(
  { engine, ledger, resumed }: OpenedChat,
  { model }: ChatOptions,
  { error }: Io,
  outside: Outside,
): Promise<{ readonly session: EngineSession; readonly isLeftOpen: boolean } | null> {
  if (resumed === null) {
    const session = await engine.open(model === null ? {} : { model });
    return { session, isLeftOpen: false };
  }
  const onWait = (text: string): void => error(`${text} Ctrl-C gives up.\n`);
  const turn = await waitForTurn(ledger, resumed, { onWait, outside });
  if (turn === "given up") return null;
  return { session: await engine.resume(resumed), isLeftOpen: turn === "left open" };
}

async function talkOnTerminal(
  setup: Omit<TerminalSetup, "own" | "history">,
  resume: (() => Promise<unknown>) | null,
): Promise<TurnEnding> {
  const { chat, state, emit, env, isTemporary } = setup;
  const own = createOwnCommands(env);
  const history = openHistory(readDataDirectory(env).value);
  emit({ type: "remembered", lines: await history.read() });
  const text = renderGreeting(state(), chat.session.session, env["HOME"], isTemporary);
  emit({ type: "reported", text });
  return runTerminal({ ...setup, own, history }, resume);
}

/** Sends a prompt, or one line after another. */
async function talkInLines(
  input: string | AsyncIterable<string>,
  context: SlashContext,
  resume: (() => Promise<unknown>) | null,
): Promise<TurnEnding> {
  const { chat, outside } = context;
  void outside.ended.then(() => (chat.isBusy ? chat.stop() : null));
  await resume?.();
  if (outside.isEnded()) return "cancelled";
  if (typeof input !== "string") return runLines(context, input);
  refuseTooLong(input, chat.session.session.model);
  return chat.say(input);
}
