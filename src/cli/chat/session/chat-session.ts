// A conversation with an agent: opens it, sends messages, stops it, and emits events for everything that happens.
import type { AgentEvent } from "../../../core/layers/event.ts";
import type { CallEntry } from "../../../core/ledger/call-entry.ts";
import type { Ledger } from "../../../core/ledger/ledger.ts";
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import type { TurnEnding, TurnResult } from "../../../engine.ts";
import type { ModelChange } from "../../../engine/session/change-model.ts";
import type { Engine } from "../../../engine/session/create-engine.ts";
import type { EngineSession } from "../../../engine/session/engine-session.ts";
import type { TurnHandle } from "../../../engine/turn/turn-handle.ts";
import type { ChatAbout } from "../state/state.ts";
import { noticeOf, type Emit } from "../state/update.ts";
import { describeEnding, isCutShort, toText } from "../words/ending-words.ts";
import { createTally, type Tally } from "./totals.ts";

export interface ChatSession {
  readonly session: EngineSession;
  readonly isBusy: boolean;
  /** Sends a message, and waits for the turn to end. `cut off` if the last reply was incomplete. */
  say(text: string, event?: AgentEvent): Promise<TurnEnding>;
  /** Finishes a turn that was left open, then runs what waits in the session's queue. */
  goOn(isLeftOpen: boolean): Promise<TurnEnding>;
  /** Sends a message to the agent while it works. One that comes too late for the turn starts the next one. */
  steer(text: string): void;
  /** Stops the running turn, and waits until it has ended. */
  stop(): Promise<void>;
  /** Switches to another session. */
  change(session: EngineSession): Promise<void>;
  /** Switches to another model in the same session. */
  useModel(name: string): Promise<ModelChange>;
  /** Emits the figures again, after something other than a turn changed them. */
  recount(): Promise<void>;
}

export interface ChatSetup {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly isSimulated: boolean;
  /** Facts of a model by the id it is recorded with; null for a model that is no longer known. */
  readonly findModel: (id: string) => ModelFacts | null;
  /** The folder the agent works in. */
  readonly workspace: string | null;
  readonly emit: Emit;
}

export async function openChatSession(
  setup: ChatSetup,
  first: EngineSession,
): Promise<ChatSession> {
  const { emit, isSimulated, workspace } = setup;
  const tally = createTally(setup, (totals) => emit({ type: "counted", totals }));
  let session = first;
  const about = (): ChatAbout => {
    const { id: sessionId, model } = session.session;
    const { id, windowTokens } = model;
    return { sessionId, model: id, windowTokens, isSimulated, workspace };
  };
  const turns = createTurns(emit, {
    tally,
    next: (text) => session.run(text),
    onMoved: () => emit({ type: "moved", about: about() }),
  });
  const emitOpened = async (): Promise<void> =>
    emit({ type: "opened", about: about(), totals: await tally.open(session.session) });
  await emitOpened();
  return {
    get session() {
      return session;
    },
    get isBusy() {
      return turns.isBusy();
    },
    say: (text, event) => {
      emit({ type: "said", text });
      return turns.run(() => session.run(event ?? text));
    },
    goOn: (isLeftOpen) => goOn(session, isLeftOpen, turns.run, emit),
    steer: turns.steer,
    stop: turns.stop,
    change: async (next) => {
      const before = session;
      session = next;
      await emitOpened();
      await before.close();
    },
    useModel: async (name) => {
      const change = await session.useModel(name);
      if (change.name !== change.previousName) await emitOpened();
      return change;
    },
    recount: async () => emit({ type: "counted", totals: await tally.open(session.session) }),
  };
}

async function goOn(
  session: EngineSession,
  isLeftOpen: boolean,
  run: (begin: () => TurnHandle) => Promise<TurnEnding>,
  emit: Emit,
): Promise<TurnEnding> {
  let ending: TurnEnding = "done";
  if (isLeftOpen) {
    emit(noticeOf("info", "The last turn was left open; resuming it."));
    ending = await run(() => session.resume());
  }
  let shown = "";
  for (const waiting of await session.runWaiting()) {
    // Collected messages share a turn.
    if (waiting.turnId === shown) continue;
    emit(noticeOf("info", "A message waited in this session; running it."));
    ending = await run(() => waiting);
    shown = waiting.turnId;
  }
  return ending;
}

interface TurnDeps {
  readonly tally: Tally;
  readonly next: (text: string) => TurnHandle;
  /** Called when a turn uses another model than the one before. */
  readonly onMoved: () => void;
}

/** Runs one turn after another, and keeps messages that are typed meanwhile. */
function createTurns(
  emit: Emit,
  deps: TurnDeps,
): Pick<ChatSession, "steer" | "stop"> & {
  readonly run: (begin: () => TurnHandle) => Promise<TurnEnding>;
  readonly isBusy: () => boolean;
} {
  let running: TurnHandle | null = null;
  let over: Promise<TurnEnding> | null = null;
  let steered: string[] = [];
  const runAll = async (begin: () => TurnHandle): Promise<TurnEnding> => {
    for (running = begin(); ;) {
      const run = await watchTurn(running, emit, deps);
      const left = unsent(steered, run.calls);
      steered = [];
      if (left.length === 0) return isCutShort(run) ? "cut off" : run.end;
      if (run.end !== "done") {
        emit(noticeOf("warning", `Not sent to the agent: ${left.join(" / ")}`));
        return run.end;
      }
      running = deps.next(left.join("\n"));
    }
  };
  const fail = (error: unknown): TurnEnding => {
    emit(noticeOf("error", toText(error)));
    return "failed";
  };
  return {
    run: (begin) => {
      over = runAll(begin)
        .catch(fail)
        .finally(() => {
          steered = [];
          running = null;
          over = null;
        });
      return over;
    },
    steer: (text) => {
      emit({ type: "said", text });
      steered.push(text);
      running?.steer(text);
    },
    stop: async () => {
      emit({ type: "stopping" });
      running?.abort("stopped by the person");
      await over;
    },
    isBusy: () => over !== null,
  };
}

/** Emits the events of a turn until it ends. Throws its error. */
async function watchTurn(
  handle: TurnHandle,
  emit: Emit,
  { tally, onMoved }: TurnDeps,
): Promise<TurnResult> {
  const startMs = performance.now();
  const clock = setInterval(() => {
    emit({ type: "tick", seconds: Math.floor((performance.now() - startMs) / 1000) });
  }, 1000);
  try {
    for await (const part of handle) {
      if (part.type === "route" && part.previousModel !== null) onMoved();
      else if (part.type === "ended") {
        await tally.turnEnded(part.run);
        const ending = describeEnding(part.run);
        if (ending !== null) emit({ type: "noticed", ...ending });
      } else if (part.type === "phase" && part.phase === "running tools") {
        await tally.callEnded(handle.turnId);
      }
      emit({ type: "part", part });
    }
    return await handle.result;
  } finally {
    clearInterval(clock);
  }
}

/** The messages typed during a turn that no call has sent. */
function unsent(steered: readonly string[], calls: readonly CallEntry[]): readonly string[] {
  const sent = calls.flatMap((call) =>
    call.sent.flatMap(({ role, content }) =>
      role === "user" ? content.map((block) => (block.type === "text" ? block.text : "")) : [],
    ),
  );
  return steered.filter((text) => !sent.includes(text));
}
