// Asks the ledger's thread, with a limit in time. While the ledger fails, it is not asked again before a pause that grows.
import { messageOf } from "../../core/strata-error.ts";
import type { StateAnswer, StateTask } from "./state-tasks.ts";

export interface AskerOptions {
  readonly askStates: (task: StateTask) => Promise<StateAnswer>;
  /** For people: the ledger cannot be asked, or can be again. */
  readonly onProblem: (problem: string) => void;
}

export interface Asker {
  /** Rejects at once during a pause. */
  ask(task: StateTask): Promise<StateAnswer>;
  /** How long it will not be asked. */
  pausedMs(): number;
  /** What fails from now on is not reported: the thread is being stopped. */
  close(): void;
}

/** A thread that starts on a busy machine takes some seconds. */
const askMsMax = 10_000;
/** The first pause; it doubles up to the maximum. */
const retryMs = 1000;
const retryMsMax = 30_000;

export function createAsker({ askStates, onProblem }: AskerOptions): Asker {
  let failures = 0;
  let pausedUntil = 0;
  let isClosed = false;
  const pausedMs = (): number => Math.max(0, pausedUntil - performance.now());
  const failed = (error: unknown): void => {
    // Several questions fail together; they are one failure.
    if (pausedMs() > 0 || isClosed) return;
    if (failures === 0) {
      onProblem(`conversations are not shared, traffic goes on: ${messageOf(error)}`);
    }
    pausedUntil = performance.now() + Math.min(retryMs * 2 ** failures, retryMsMax);
    failures += 1;
  };
  return {
    pausedMs,
    close: () => {
      isClosed = true;
    },
    ask: async (task) => {
      if (pausedMs() > 0) throw new Error("the ledger is not asked for a while");
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(
        () => late.reject(new Error(`no answer within ${askMsMax / 1000} s`)),
        askMsMax,
      );
      try {
        const answer = await Promise.race([askStates(task), late.promise]);
        if (failures > 0) onProblem("conversations are shared again");
        failures = 0;
        return answer;
      } catch (error) {
        failed(error);
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
