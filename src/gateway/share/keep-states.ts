// Writes the states of conversations after their calls: at once where others read them, else a little later and together.
import { assert } from "../../core/assert.ts";
import type { ConversationState } from "../../core/ledger/conversation-state.ts";
import type { AnsweredConversation } from "./conversation-share.ts";
import type { Asker } from "./ask-ledger.ts";
import { writeState, type StateToWrite } from "./write-state.ts";

export interface KeeperOptions {
  readonly asker: Asker;
  readonly isShared: boolean;
  readonly idleMsMax: number;
  readonly nowMs: () => number;
}

export interface KeptCounts {
  readonly kept: number;
  readonly keptBytes: number;
  /** States that could not be written: the conversation may not be found elsewhere. */
  readonly lost: number;
  /** Old states that were deleted. */
  readonly swept: number;
}

export interface Keeper {
  keep(after: AnsweredConversation & Pick<StateToWrite, "marks">): void;
  counts(): KeptCounts;
  /** Whether the ledger is known to have held no states before those of this process. */
  beganEmpty(): boolean;
  /** Writes what is not written yet, for some seconds at most. */
  close(): Promise<void>;
}

/** How long states wait for others where only a restart reads them. */
const batchMs = 500;
/** More states than these replace the oldest. */
const waitingMax = 2000;
/** So many are written at once. */
const batchMax = 100;
const sweepMs = 3_600_000;
/** As long as the recorder waits: the thread may only be starting. */
const closeMsMax = 5000;

export function createKeeper(options: KeeperOptions): Keeper {
  return new StateKeeper(options);
}

class StateKeeper implements Keeper {
  readonly #options: KeeperOptions;
  readonly #counts = { kept: 0, keptBytes: 0, lost: 0, swept: 0 };
  /** The oldest first. */
  readonly #waiting = new Map<string, StateToWrite>();
  readonly #sweeps: NodeJS.Timeout;
  #due: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #beganEmpty = false;
  #isClosed = false;
  /** Nothing is written any more: what could not be is counted as lost. */
  #hasEnded = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
    // A sweep that failed was reported, and is tried again with the next one.
    const sweep = (): Promise<number | null> => this.#sweep().catch(() => null);
    this.#sweeps = setInterval(() => void sweep(), sweepMs).unref();
    void sweep().then((left) => {
      this.#beganEmpty = left === 0;
    });
  }

  keep({ conversation, ...after }: AnsweredConversation & Pick<StateToWrite, "marks">): void {
    const line = conversation.branches.at(-1);
    if (line === undefined || this.#isClosed) return;
    // Only other gateways may be asked for an earlier prompt.
    const { isShared } = this.#options;
    const prompt = isShared ? (line.blocks.at(-1)?.key ?? "") : "";
    const key = `${conversation.id}\n${prompt}`;
    this.#waiting.delete(key);
    this.#waiting.set(key, { ...after, conversation: { ...conversation }, line });
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= waitingMax) break;
      this.#waiting.delete(oldest);
      this.#counts.lost += 1;
    }
    this.#plan();
  }

  counts(): KeptCounts {
    return { ...this.#counts };
  }

  beganEmpty(): boolean {
    return this.#beganEmpty;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeps);
    if (this.#due !== null) clearTimeout(this.#due);
    const deadline = Promise.withResolvers<void>();
    const timer = setTimeout(deadline.resolve, closeMsMax);
    await Promise.race([this.#writeRest(), deadline.promise]);
    clearTimeout(timer);
    this.#hasEnded = true;
    this.#options.asker.close();
    this.#counts.lost += this.#waiting.size;
    this.#waiting.clear();
  }

  #plan(): void {
    if (this.#due !== null || this.#writing !== null || this.#isClosed) return;
    const { isShared, asker } = this.#options;
    const write = (): void => {
      this.#due = null;
      this.#writing = this.#write().finally(() => {
        this.#writing = null;
        if (this.#waiting.size > 0) this.#plan();
      });
    };
    this.#due = setTimeout(write, Math.max(isShared ? 0 : batchMs, asker.pausedMs()));
  }

  async #write(): Promise<void> {
    const batch = [...this.#waiting].slice(0, batchMax);
    for (const [key] of batch) this.#waiting.delete(key);
    const states = batch.flatMap(([, state]) => spell(state));
    this.#counts.lost += batch.length - states.length;
    if (states.length === 0) return;
    try {
      await this.#options.asker.ask({ do: "keep states", states });
      this.#counts.kept += states.length;
      for (const { stateJson } of states) this.#counts.keptBytes += stateJson.length;
    } catch {
      if (this.#hasEnded) {
        this.#counts.lost += states.length;
        return;
      }
      // They wait for the next time, but for those of which there is a newer one.
      const newer = [...this.#waiting];
      this.#waiting.clear();
      for (const [key, state] of [...batch, ...newer]) this.#waiting.set(key, state);
    }
  }

  async #writeRest(): Promise<void> {
    await this.#writing;
    const mayWrite = (): boolean => !this.#hasEnded && this.#options.asker.pausedMs() === 0;
    while (this.#waiting.size > 0 && mayWrite()) await this.#write();
  }

  /** Returns how many are left. */
  async #sweep(): Promise<number> {
    const { asker, nowMs, idleMsMax } = this.#options;
    for (;;) {
      const answer = await asker.ask({ do: "sweep states", beforeMs: nowMs() - idleMsMax });
      assert(answer.done === "sweep states", "the ledger answers what it was asked");
      this.#counts.swept += answer.sweptCount;
      if (answer.sweptCount === 0) return answer.keptCount;
    }
  }
}

/** None for one that cannot be spelled, which would keep all others out. */
function spell(state: StateToWrite): readonly ConversationState[] {
  try {
    return [writeState(state)];
  } catch {
    return [];
  }
}
