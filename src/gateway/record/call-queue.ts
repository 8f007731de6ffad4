// Calls that wait to be written, up to a limit in number and in size. The oldest give way.
import type { ObservedCall } from "../observed-call.ts";

export interface QueueLimits {
  readonly waitingCallsMax: number;
  /** As they are held in memory, roughly. */
  readonly waitingBytesMax: number;
}

export interface CallQueue {
  readonly count: number;
  /** Returns the calls that were dropped. */
  push(call: ObservedCall): readonly ObservedCall[];
  /** The oldest calls; they stay in the queue until they are settled. */
  take(most: number): readonly ObservedCall[];
  /** They are written. If this is not called, they are taken again. */
  settle(): void;
  giveBack(): void;
  remove(calls: ReadonlySet<ObservedCall>): void;
  /** Empties it. */
  giveUp(): readonly ObservedCall[];
}

export function createCallQueue({ waitingCallsMax, waitingBytesMax }: QueueLimits): CallQueue {
  let waiting: ObservedCall[] = [];
  let takenCount = 0;
  let bytes = 0;
  return {
    get count() {
      return waiting.length;
    },
    push: (call) => {
      waiting.push(call);
      bytes += sizeOf(call);
      const dropped: ObservedCall[] = [];
      // Calls that are being written are not dropped, because they may be stored already.
      while (
        waiting.length - takenCount > 1 &&
        (waiting.length > waitingCallsMax || bytes > waitingBytesMax)
      ) {
        const [oldest] = waiting.splice(takenCount, 1);
        if (oldest === undefined) break;
        bytes -= sizeOf(oldest);
        dropped.push(oldest);
      }
      return dropped;
    },
    take: (most) => {
      takenCount = 0;
      let blocks = 0;
      for (const { addedBlocks } of waiting) {
        blocks += addedBlocks.length;
        if (takenCount === most || (takenCount > 0 && blocks > batchBlocksMax)) break;
        takenCount += 1;
      }
      return waiting.slice(0, takenCount);
    },
    settle: () => {
      for (const call of waiting.splice(0, takenCount)) bytes -= sizeOf(call);
      takenCount = 0;
    },
    giveBack: () => {
      takenCount = 0;
    },
    remove: (calls) => {
      for (const call of calls) bytes -= sizeOf(call);
      waiting = waiting.filter((call) => !calls.has(call));
    },
    giveUp: () => {
      const left = waiting;
      [waiting, takenCount, bytes] = [[], 0, 0];
      return left;
    },
  };
}

/** Traffic waits while a batch is copied for the thread: five thousand blocks take a few milliseconds. */
const batchBlocksMax = 5000;

const bytesPerCall = 2000;
const bytesPerBlock = 250;

function sizeOf({ addedBlocks }: ObservedCall): number {
  return bytesPerCall + addedBlocks.length * bytesPerBlock;
}
