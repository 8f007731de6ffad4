// One chat from its first line to its last: opens, talks as whoever is there can be talked to, and closes.
import type { ReadStream, WriteStream } from "node:tty";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { Confirm } from "../../edge/tools/confirmation.ts";
import type { TurnEnding } from "../../engine.ts";
import type { Engine } from "../../engine/create-engine.ts";
import type { EngineSession } from "../../engine/engine-session.ts";
import type { Io } from "../command.ts";
import { openChatSession, toText, type ChatSession } from "./chat-session.ts";
import {
  createConfirmations,
  type Confirmations,
  type ConfirmationsSetup,
} from "./confirmations.ts";
import { renderFarewell, renderGreeting } from "./greeting.ts";
import { runLines } from "./line-mode.ts";
import { waitForTurn } from "./wait-for-turn.ts";
import type { SlashContext } from "./run-slash.ts";
import { createScreen, type Screen } from "./screen.ts";
import { noTotals, openState, type ChatState } from "./state.ts";
import { runTerminal } from "./terminal.ts";
import { update, type ChatEvent } from "./update.ts";
import { createAnswerView, createJsonView, createTextView, type View } from "./views.ts";

/** An engine, with what a chat must know of it. */
export interface OpenedChat {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly isSimulated: (model: ModelFacts) => boolean;
  /** The full name of what may be a nickname. */
  readonly modelNamed: (name: string) => string;
  /** The folder the agent works in. */
  readonly workspace: string | null;
  /** The session to go on with; null for a new one. */
  readonly resumed: string | null;
  close(): Promise<void>;
}

export interface ChatEdges {
  readonly open: (asks: {
    readonly confirm: Confirm;
    readonly onNotice: (text: string) => void;
  }) => Promise<OpenedChat>;
  readonly whom: ConfirmationsSetup["whom"];
  /** Where keys are pressed and lines are drawn; null where nobody sits. */
  readonly terminal: { readonly input: ReadStream; readonly output: WriteStream } | null;
  /** What is said where there is no terminal. */
  readonly lines: AsyncIterable<string>;
  readonly colours: boolean;
  /** Where there is no terminal: columns to break lines at; none by default. */
  readonly width?: number;
  /** Where there is no terminal: whether the status line follows each turn. */
  readonly showsStatus?: boolean;
}

export interface ChatWish {
  /** Said instead of anything that is typed. */
  readonly prompt: string | null;
  readonly isJson: boolean;
  /** Whether tools run without asking. */
  readonly isAllowed: boolean;
  /** Of a new session; what is configured by default. */
  readonly model: string | null;
}

/** The exit status. */
export async function runChat(wish: ChatWish, edges: ChatEdges, io: Io): Promise<number> {
  const terminal = wish.prompt === null && !wish.isJson ? edges.terminal : null;
  const screen = terminal === null ? null : createScreen(terminal.output, edges.colours);
  const view = chooseView(wish, screen, edges, io);
  let state = openState(nowhere, noTotals);
  const tell = (event: ChatEvent): void => {
    state = update(state, event);
    view(event, state);
  };
  const confirmations = createConfirmations({
    whom: edges.whom,
    onAsked: (question) => tell({ type: "asked", question }),
    onReady: (toolUseId) => tell({ type: "ready", toolUseId }),
    onSettled: (toolUseId) => tell({ type: "answered", toolUseId }),
    onRefused: (name) => {
      const text = `${name} was not allowed: nobody is at a terminal to ask. --yes allows every tool.`;
      tell({ type: "noticed", level: "warning", text });
    },
  });
  const onNotice = (text: string): void => tell({ type: "noticed", level: "info", text });
  const opened = await edges.open({ confirm: confirmations.confirm, onNotice });
  try {
    const { session, isLeftOpen } = await openSession(opened, wish, io);
    const chat = await openChatSession({ ...opened, tell }, session);
    const context: SlashContext = { ...opened, chat, tell, state: () => state, env: io.env };
    const talk: Talk = { wish, edges, context, confirmations, isLeftOpen };
    const ending = await (terminal === null || screen === null
      ? talkInLines(talk)
      : talkAtTerminal(talk, { ...terminal, screen }));
    if (!wish.isJson) io.error(renderFarewell(state, chat.session.session.isRecorded));
    return statuses[ending];
  } finally {
    await opened.close();
  }
}

const statuses: Readonly<Record<TurnEnding, number>> = {
  done: 0,
  failed: 1,
  "cut off": 1,
  "too many calls": 1,
  cancelled: 130,
};

const nowhere: ChatState["about"] = {
  sessionId: "",
  model: "",
  windowTokens: 1,
  isSimulated: false,
  workspace: null,
};

function chooseView(wish: ChatWish, screen: Screen | null, edges: ChatEdges, io: Io): View {
  if (wish.isJson) return createJsonView(io);
  const { colours, width = Number.POSITIVE_INFINITY, showsStatus = false } = edges;
  const options = { width, colours };
  if (wish.prompt !== null) return createAnswerView(io, options);
  // Before a session is open there is nothing to draw around what is told.
  if (screen !== null) return (_, state) => state.about !== nowhere && screen.show(state);
  return createTextView(io, { ...options, showsStatus });
}

async function openSession(
  { engine, ledger, resumed, modelNamed }: OpenedChat,
  { model }: ChatWish,
  io: Io,
): Promise<{ readonly session: EngineSession; readonly isLeftOpen: boolean }> {
  if (resumed === null) {
    const session = await engine.open(model === null ? {} : { model: modelNamed(model) });
    return { session, isLeftOpen: false };
  }
  const isLeftOpen = await waitForTurn(ledger, resumed, io);
  return { session: await engine.resume(resumed), isLeftOpen };
}

interface Talk {
  readonly wish: ChatWish;
  readonly edges: ChatEdges;
  readonly context: SlashContext;
  readonly confirmations: Confirmations;
  readonly isLeftOpen: boolean;
}

async function talkInLines({ wish, edges, context, isLeftOpen }: Talk): Promise<TurnEnding> {
  const { chat } = context;
  // The first stops the turn; the next one is the system's to handle.
  const onSignal = (signal: NodeJS.Signals): void => {
    stopListening();
    if (chat.isBusy) chat.stop();
    else process.kill(process.pid, signal);
  };
  const stopListening = (): void => {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    if (isLeftOpen) await goOn(context);
    return wish.prompt === null
      ? await runLines(context, edges.lines)
      : await chat.say(wish.prompt);
  } finally {
    stopListening();
  }
}

async function talkAtTerminal(
  { context, confirmations, isLeftOpen }: Talk,
  terminal: { readonly input: ReadStream; readonly output: WriteStream; readonly screen: Screen },
): Promise<TurnEnding> {
  const { tell, state, chat, env } = context;
  const text = renderGreeting(state(), chat.session.session, env["HOME"]);
  tell({ type: "reported", text });
  const first = isLeftOpen ? () => goOn(context) : null;
  await runTerminal({ ...context, confirmations, ...terminal }, first);
  return "done";
}

/** Somebody left the last turn open. */
async function goOn({
  chat,
  tell,
}: {
  readonly chat: ChatSession;
  readonly tell: SlashContext["tell"];
}): Promise<void> {
  tell({ type: "noticed", level: "info", text: "The last turn was left open; going on with it." });
  try {
    await chat.goOn();
  } catch (error) {
    tell({ type: "noticed", level: "error", text: toText(error) });
  }
}
