// Explained calls in the order they were made; some are told only when the reply to them is known.
import type { RecordedBlock } from "./recording.ts";

export interface CallQueue<Call> {
  /** A thread goes on, and what its next request adds shows the reply to its last call. */
  hear(thread: string, reply: readonly RecordedBlock[]): void;
  /** With what to make of it once its reply is known; null where that changes nothing. */
  add(thread: string, call: Call, onReply: OnReply<Call> | null): void;
  /** All that can be told by now. */
  take(): Call[];
  /** All that is left: no reply comes any more. */
  end(): Call[];
}

export type OnReply<Call> = (reply: readonly RecordedBlock[]) => Call;

interface Waiting<Call> {
  readonly thread: string;
  call: Call;
  onReply: OnReply<Call> | null;
}

export function createCallQueue<Call>(): CallQueue<Call> {
  let waiting: Waiting<Call>[] = [];
  return {
    hear(thread, reply) {
      for (const each of waiting) {
        if (each.thread !== thread || each.onReply === null) continue;
        each.call = each.onReply(reply);
        each.onReply = null;
      }
    },
    add(thread, call, onReply) {
      waiting.push({ thread, call, onReply });
    },
    take() {
      const first = waiting.findIndex(({ onReply }) => onReply !== null);
      const told = first === -1 ? waiting : waiting.slice(0, first);
      waiting = first === -1 ? [] : waiting.slice(first);
      return told.map(({ call }) => call);
    },
    end() {
      const told = waiting;
      waiting = [];
      return told.map(({ call }) => call);
    },
  };
}
