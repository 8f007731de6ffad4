// Explained calls in order. Some wait for their reply, which can change the explanation.
import type { RecordedBlock } from "./recording.ts";

export interface CallQueue<Call> {
  /** Passes on the reply to the thread's last call, which its next request contains. */
  hear(thread: string, reply: readonly RecordedBlock[]): void;
  /** `onReply` returns the final call once its reply is known; null if the reply does not matter. */
  add(thread: string, call: Call, onReply: OnReply<Call> | null): void;
  /** Removes and returns the calls up to the first one that waits. */
  take(): Call[];
  /** Removes and returns all remaining calls. */
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
      const ready = first === -1 ? waiting : waiting.slice(0, first);
      waiting = first === -1 ? [] : waiting.slice(first);
      return ready.map(({ call }) => call);
    },
    end() {
      const ready = waiting;
      waiting = [];
      return ready.map(({ call }) => call);
    },
  };
}
