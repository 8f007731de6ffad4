// The simulator's own record: every request it was sent, what it was billed, and how it ended.
import type { CallRecord } from "./surface.ts";

export interface Call {
  /** From 1, in order of arrival. */
  readonly number: number;
  readonly startMs: number;
  readonly method: string;
  readonly path: string;
  /** Null where no surface knows the path. */
  readonly surface: string | null;
  /** A hash of the client's key; null where there was none. */
  readonly workspace: string | null;
  readonly status: number;
  readonly outcome: CallOutcome;
  /** The fault that was asked for and struck here. */
  readonly fault: string | null;
  /** What the provider says where it refuses. */
  readonly refusal: string | null;
  /** What went wrong on our side, as a script that did not match. */
  readonly problem: string | null;
  /** Null where nothing was billed. */
  readonly billed: CallRecord | null;
}

export type CallOutcome =
  | "under way"
  | "answered"
  | "refused"
  /** The client went away before the end. */
  | "left"
  /** Broken off on purpose. */
  | "cut";

export interface CallLedger {
  /** Adds a call; the function changes it while it is under way. */
  open(call: Omit<Call, "number">): (change: Partial<Call>) => void;
  list(): readonly Call[];
  /** Older calls that were forgotten to keep memory bounded. */
  readonly dropped: number;
}

export function createCallLedger(callsMax: number, onClose: (call: Call) => void): CallLedger {
  const calls = new Map<number, Call>();
  let count = 0;
  let dropped = 0;
  return {
    open: (first) => {
      count += 1;
      const number = count;
      let call: Call = { ...first, number };
      calls.set(number, call);
      for (const oldest of calls.keys()) {
        if (calls.size <= callsMax) break;
        calls.delete(oldest);
        dropped += 1;
      }
      return (change) => {
        if (call.outcome !== "under way") return;
        call = { ...call, ...change };
        if (calls.has(number)) calls.set(number, call);
        if (call.outcome !== "under way") onClose(call);
      };
    },
    list: () => [...calls.values()],
    get dropped() {
      return dropped;
    },
  };
}
