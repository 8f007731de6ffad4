// A chat at a terminal: keys in, a screen out, until the user quits.
import { emitKeypressEvents } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import type { TurnEnding } from "../../../engine.ts";
import type { Confirmations } from "../session/confirmations.ts";
import { findCompletion } from "../input/find-completion.ts";
import type { InputHistory } from "../input/history-file.ts";
import type { OwnCommands } from "../input/own-command.ts";
import type { Key } from "./line-editor.ts";
import { readKey, type Action } from "./read-key.ts";
import type { SlashContext } from "../slash/run-slash.ts";
import { submitLine } from "../line-mode.ts";
import type { Screen } from "./screen.ts";

export interface TerminalSetup extends Omit<SlashContext, "screen" | "own"> {
  readonly confirmations: Confirmations;
  readonly screen: Screen;
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly own: OwnCommands;
  readonly history: InputHistory;
}

/**
 * Resolves when the user quits: `cancelled` if that stopped a turn. Releases the terminal at once, then waits for the
 * turn. `first` runs before any input.
 */
export async function runTerminal(
  setup: TerminalSetup,
  first: (() => Promise<unknown>) | null,
): Promise<TurnEnding> {
  const { chat, state, screen, input, output, outside } = setup;
  const quit = Promise.withResolvers<void>();
  const act = createActs(setup, quit.resolve, (work) => {
    work.then(() => screen.show(state()), quit.reject);
  });
  const onKey = (sequence: string | undefined, key: Key): void => {
    const pressed = { ...key, sequence: key.sequence ?? sequence };
    act(readKey(state(), pressed), pressed);
    screen.show(state());
  };
  const onResize = (): void => screen.show(state());
  const onEnd = (): void => quit.resolve();
  const takeOver = (): void => {
    input.setRawMode(true);
    output.write(pasteOn);
    screen.show(state());
  };
  emitKeypressEvents(input);
  input.on("keypress", onKey).on("end", onEnd);
  output.on("resize", onResize);
  void outside.ended.then(onEnd);
  process.on("SIGCONT", takeOver);
  takeOver();
  input.resume();
  let isStopped = false;
  let stopped: Promise<void> = Promise.resolve();
  try {
    if (first !== null) first().catch(quit.reject);
    await quit.promise;
    setup.own.stop();
    isStopped = chat.isBusy;
    if (isStopped) stopped = chat.stop();
  } finally {
    screen.end();
    input.off("keypress", onKey).off("end", onEnd);
    output.off("resize", onResize);
    process.off("SIGCONT", takeOver);
    output.write(pasteOff);
    input.setRawMode(false);
    input.pause();
  }
  await stopped;
  await setup.history.written();
  return isStopped ? "cancelled" : "done";
}

/** Makes the terminal mark pasted text, so that its lines are not read as keys. */
const pasteOn = "\u001b[?2004h";
const pasteOff = "\u001b[?2004l";

function createActs(
  setup: TerminalSetup,
  quit: () => void,
  later: (work: Promise<unknown>) => void,
): (action: Action, key: Key) => void {
  const { chat, emit, confirmations, screen, state, input, output } = setup;
  const submit = async (text: string): Promise<void> => {
    setup.history.add(text);
    if ((await submitLine(text, setup)) === "quit") quit();
  };
  const tabbed = async (): Promise<void> => {
    const { editor } = state();
    const found = await findCompletion(editor, setup.files);
    // What was typed meanwhile counts.
    const now = state().editor;
    if (now.text !== editor.text || now.cursor !== editor.cursor) return;
    emit({ type: "completed", ...found });
  };
  return (action, key) => {
    if (setup.own.isRunning() && (action.kind === "warn" || action.kind === "clear")) {
      return setup.own.stop();
    }
    switch (action.kind) {
      case "edit":
        return emit({ type: "key", key });
      case "submit":
        emit({ type: "entered" });
        return later(submit(action.text));
      case "answer":
        return confirmations.answer(action.id, action.answer);
      case "complete":
        return later(tabbed());
      case "stop":
        return later(chat.stop());
      case "clear":
        return emit({ type: "entered" });
      case "warn":
        return emit({ type: "quitting", isQuitting: true });
      case "quit":
        return quit();
      case "clear screen":
        return screen.clear(state());
      case "suspend":
        output.write(`${pasteOff}\r\n`);
        input.setRawMode(false);
        process.kill(process.pid, "SIGTSTP");
        return;
      case "nothing":
        return;
    }
  };
}
