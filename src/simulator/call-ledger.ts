// The simulator's record of every request: its bill and how it ended.
import type { CallRecord } from "./surface.ts";

export interface Call {
  /** From 1, in order of arrival. */
  readonly number: number;
  readonly startMs: number;
  readonly method: string;
  readonly path: string;
  /** Null if no surface has the path. */
  readonly surface: string | null;
  /** A hash of the client's key; null without a key. */
  readonly workspace: string | null;
  readonly status: number;
  readonly outcome: CallOutcome;
  readonly fault: string | null;
  readonly refusal: string | null;
  /** What went wrong in the simulator, such as a script that did not match. */
  readonly problem: string | null;
  readonly billed: CallRecord | null;
}

export type CallOutcome =
  | "under way"
  | "answered"
  | "refused"
  /** The client disconnected before the end. */
  | "left"
  | "cut";

export interface CallLedger {
  /** Adds a call; the result updates it while it runs. */
  open(call: Omit<Call, "number">): (change: Partial<Call>) => void;
  list(): readonly Call[];
  /** Number of old calls dropped to limit memory. */
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
