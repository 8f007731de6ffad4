// Runs the turns of a chat one by one, emits their events, and keeps messages that were typed meanwhile.
import type { CallEntry } from "../../../core/ledger/call-entry.ts";
import type { TurnEnding, TurnRun } from "../../../engine.ts";
import type { TurnHandle } from "../../../engine/turn/turn-handle.ts";
import { describeEnding, isCutShort, toText } from "../words/ending-words.ts";
import type { Tally } from "./totals.ts";
import type { ChatEvent } from "../state/update.ts";

export interface TurnRunner {
  /** How the last turn ended; `cut off` if its reply was incomplete. */
  run(begin: () => TurnHandle): Promise<TurnEnding>;
  steer(text: string): void;
  /** Resolves once no turn runs. */
  stop(): Promise<void>;
  isBusy(): boolean;
}

export interface TurnRunnerSetup {
  readonly tell: (event: ChatEvent) => void;
  readonly tally: Tally;
  /** Starts another turn. */
  readonly next: (text: string) => TurnHandle;
  /** Called when a turn uses another model than the one before. */
  readonly onMoved: () => void;
}

/** Messages that came too late for a turn start the next one. */
export function createTurnRunner(setup: TurnRunnerSetup): TurnRunner {
  const { tell, next } = setup;
  let running: TurnHandle | null = null;
  let over: Promise<unknown> = Promise.resolve();
  let isBusy = false;
  let steered: string[] = [];
  const runAll = async (begin: () => TurnHandle): Promise<TurnEnding> => {
    for (running = begin(); ;) {
      const run = await watchTurn(running, setup);
      const left = unheard(steered, run.calls);
      steered = [];
      if (left.length === 0) return isCutShort(run) ? "cut off" : run.end;
      if (run.end !== "done") {
        const text = `Not sent to the agent: ${left.join(" / ")}`;
        tell({ type: "noticed", level: "warning", text });
        return run.end;
      }
      running = next(left.join("\n"));
    }
  };
  const runSafely = async (begin: () => TurnHandle): Promise<TurnEnding> => {
    isBusy = true;
    try {
      return await runAll(begin);
    } catch (error) {
      tell({ type: "noticed", level: "error", text: toText(error) });
      return "failed";
    } finally {
      steered = [];
      running = null;
      isBusy = false;
    }
  };
  return {
    run: (begin) => {
      const ending = runSafely(begin);
      over = ending;
      return ending;
    },
    steer: (text) => {
      steered.push(text);
      running?.steer(text);
    },
    stop: async () => {
      running?.abort("stopped by the person");
      await over;
    },
    isBusy: () => isBusy,
  };
}

/** Emits the events of a turn until it ends. Throws its error. */
async function watchTurn(
  handle: TurnHandle,
  { tell, tally, onMoved }: TurnRunnerSetup,
): Promise<TurnRun> {
  const startMs = performance.now();
  const clock = setInterval(() => {
    tell({ type: "tick", seconds: Math.floor((performance.now() - startMs) / 1000) });
  }, 1000);
  try {
    for await (const part of handle) {
      if (part.type === "route" && part.previousModel !== null) onMoved();
      if (part.type === "ended") {
        await tally.turnEnded(part.run);
        const ending = describeEnding(part.run);
        if (ending !== null) tell({ type: "noticed", ...ending });
      }
      const isCalled = part.type === "phase" && part.phase === "running tools";
      if (isCalled) await tally.callEnded(handle.turnId);
      tell({ type: "part", part });
    }
    return await handle.result;
  } finally {
    clearInterval(clock);
  }
}

/** The messages typed meanwhile that no call has sent. */
function unheard(steered: readonly string[], calls: readonly CallEntry[]): readonly string[] {
  const sent = calls.flatMap((call) =>
    call.sent.flatMap(({ role, content }) =>
      role === "user" ? content.map((block) => (block.type === "text" ? block.text : "")) : [],
    ),
  );
  return steered.filter((text) => !sent.includes(text));
}
