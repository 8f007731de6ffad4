// The queued messages whose callers are in this process. The ledger has the queue itself; this runs it in order, including
// items of other processes, and resolves each caller's handle.
import { setTimeout as wait } from "node:timers/promises";
import type { QueueMode } from "../../../core/config/schema/queue.ts";
import { SessionBusy, TurnLeftOpen } from "../../../core/ledger/queue-record.ts";
import type { Message } from "../../../core/message/message.ts";
import { nextInQueue, type QueuedTurn } from "../../../core/session/next-in-queue.ts";
import { toStrataError, type StrataError } from "../../../core/strata-error.ts";
import type { TurnResult } from "../../../core/turn/turn-result.ts";
import { createTurnHandle, type HandleParts, type TurnHandle } from "../../turn/turn-handle.ts";
import type { EngineContext } from "../engine-deps.ts";
import type { LiveSession } from "../live-session.ts";
import type { AskedTurn } from "../route-turn.ts";
import { followElsewhere, pollMs } from "./follow-elsewhere.ts";
import { closed, dropped, sameId, stillWaits, withdrawn } from "./queue-errors.ts";
import { StoredQueue, type Dropped } from "./stored-queue.ts";

export interface AskedInQueue extends AskedTurn {
  readonly mode: QueueMode | undefined;
}

/** A message that waits, and its caller. */
interface Waiting {
  readonly id: string;
  readonly parts: HandleParts;
  readonly end: PromiseWithResolvers<TurnResult>;
  isStored: boolean;
  /** Takes it back from the turn that it was steered to; false if that turn already has it. */
  unsteer?: () => boolean;
}

export class SessionQueue {
  readonly #context: EngineContext;
  readonly #live: LiveSession;
  readonly #stored: StoredQueue;
  /** By the id of the queue item. */
  readonly #waiting = new Map<string, Waiting>();
  /** Resolves when the last message is in the ledger: in its turn, or in the queue. */
  #adding: Promise<void> = Promise.resolve();
  /** A turn has begun, and the ledger has not accepted it yet. */
  #isDeciding = false;
  /** The turn of another process under which the queue was last read. A turn takes its messages when it opens. */
  #heldBy: string | null = null;
  #isRunning = false;
  #isClosed = false;
  #news = Promise.withResolvers<void>();

  constructor(context: EngineContext, live: LiveSession) {
    this.#context = context;
    this.#live = live;
    this.#stored = new StoredQueue(context, live.session);
  }

  /** Runs the turn at once if nothing else runs or waits. */
  run(parts: HandleParts, asked: AskedInQueue): void {
    this.#live.requireOpen();
    const isFree = !this.#live.isBusy && !this.#isDeciding && this.#waiting.size === 0;
    if (isFree) this.#runNow(parts, asked);
    else this.#add(parts, asked);
  }

  /** Runs what waits in the ledger. One handle for each message, oldest first. */
  async runWaiting(): Promise<readonly TurnHandle[]> {
    this.#live.requireOpen();
    const items = await this.#stored.readWaiting();
    const all = items.map(({ id, mode }) => this.#waiting.get(id) ?? this.#adopt(id, mode));
    this.#runAll();
    return all.map(({ parts }) => parts.handle);
  }

  /** Waiting messages stay in the ledger; their handles fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.#adding;
    this.#fail(closed(this.#live.session.id));
  }

  /** If another process works on the session, or messages wait in it, this one waits too. */
  #runNow(parts: HandleParts, asked: AskedInQueue): void {
    parts.steering.take([]);
    const turn = this.#occupy(parts, asked);
    const waiting = toWaiting(parts);
    this.#isDeciding = true;
    this.#adding = whenOpened(parts, turn).then((error) => {
      this.#isDeciding = false;
      return this.#mustWait(error) ? this.#store(waiting, asked) : undefined;
    });
    const orWait = (error: unknown): Promise<TurnResult> => {
      if (this.#mustWait(error)) return waiting.end.promise;
      throw error;
    };
    parts.follow(turn.catch(orWait));
  }

  /** One after the other, so that the ledger has them in the order of the calls. */
  #add(parts: HandleParts, asked: AskedInQueue): void {
    const waiting = toWaiting(parts);
    parts.follow(waiting.end.promise);
    const { id } = waiting;
    if (this.#waiting.has(id)) return waiting.end.reject(sameId(id));
    this.#waiting.set(id, waiting);
    this.#adding = this.#adding.then(() => this.#store(waiting, asked));
  }

  /** A message that waits without a caller in this process. */
  #adopt(id: string, mode: QueueMode): Waiting {
    const waiting = toWaiting(createTurnHandle(id));
    waiting.parts.follow(waiting.end.promise);
    this.#waiting.set(id, waiting);
    this.#noteStored(waiting, mode);
    return waiting;
  }

  async #store(waiting: Waiting, { event, model, mode: asked }: AskedInQueue): Promise<void> {
    const { id, parts } = waiting;
    this.#waiting.set(id, waiting);
    try {
      const message = this.#stored.toMessage(event);
      const settings = await this.#stored.settings();
      const mode = asked ?? settings.mode;
      this.#tellDropped(await this.#stored.makeRoom(settings));
      if (parts.signal.aborted) throw withdrawn();
      await this.#stored.add({ id, mode, eventJson: JSON.stringify(event), model });
      this.#noteStored(waiting, mode);
      // It was aborted while the ledger stored it.
      if (parts.signal.aborted) await this.#withdraw(waiting);
      else if (mode === "steer") this.#steer(waiting, message);
      else if (mode === "interrupt") void this.#live.interrupt("interrupted by another message");
      this.#runAll();
    } catch (error) {
      this.#end(waiting, toStrataError(error, "queueing the message"));
    }
  }

  #noteStored(waiting: Waiting, mode: QueueMode): void {
    const { id, parts } = waiting;
    waiting.isStored = true;
    parts.emit({ type: "queued", id, mode });
    parts.signal.addEventListener("abort", () => void this.#withdraw(waiting), { once: true });
    this.#wake();
  }

  /** A message that the turn does not take before it ends gets a turn of its own. */
  #steer(waiting: Waiting, message: Message): void {
    const turn = this.#live.running;
    if (turn === null || turn.handle.phase === "over") return;
    const onTaken = (): void => this.#join(waiting, turn.handle);
    turn.steering.steer({ id: waiting.id, message, onTaken });
    waiting.unsteer = () => turn.handle.phase === "over" || turn.steering.unsteer(message);
  }

  async #withdraw(waiting: Waiting): Promise<void> {
    const isOurs = this.#waiting.has(waiting.id) && !this.#isClosed;
    if (!isOurs || waiting.unsteer?.() === false) return;
    const how = { status: "dropped", reason: "its caller withdrew it" } as const;
    try {
      const { ids } = await this.#stored.drop([waiting.id], how, "withdrawn");
      if (ids.length > 0) this.#end(waiting, withdrawn());
      // Another process has it.
      else this.#wake();
    } catch (error) {
      this.#end(waiting, toStrataError(error, "withdrawing the message"));
    }
  }

  /** The caller's handle is from now on that of the turn which has the message. */
  #join(waiting: Waiting, turn: TurnHandle): void {
    this.#waiting.delete(waiting.id);
    waiting.end.resolve(waiting.parts.join(turn));
  }

  /** Another process took or dropped the message. */
  #follow(waiting: Waiting): void {
    const { id, parts } = waiting;
    // It may have been withdrawn or joined meanwhile.
    if (!this.#waiting.delete(id)) return;
    const resume = (): Promise<TurnResult> => this.#occupy(parts, null);
    const place = { context: this.#context, live: this.#live, isClosed: () => this.#isClosed };
    waiting.end.resolve(followElsewhere(place, { id, signal: parts.signal, resume }));
  }

  #end({ id, end }: Waiting, error: StrataError): void {
    this.#waiting.delete(id);
    end.reject(error);
  }

  #fail(error: StrataError): void {
    for (const waiting of this.#waiting.values()) this.#end(waiting, error);
  }

  #tellDropped({ ids, reason }: Dropped): void {
    for (const id of ids) {
      const waiting = this.#waiting.get(id);
      if (waiting !== undefined) this.#end(waiting, dropped(reason));
    }
  }

  /** Runs until no message of this process waits. An error leaves the messages in the ledger, and their callers get it. */
  #runAll(): void {
    if (this.#isRunning || this.#isClosed) return;
    this.#isRunning = true;
    const work = async (): Promise<void> => {
      while (this.#waiting.size > 0 && !this.#isClosed) await this.#advance();
    };
    void work()
      .catch((error: unknown) => this.#fail(stillWaits(toStrataError(error, "running what waits"))))
      .finally(() => {
        this.#isRunning = false;
      });
  }

  async #advance(): Promise<void> {
    await this.#adding;
    await this.#live.idle();
    const heldBy = await this.#stored.findHolder();
    if (heldBy !== null && heldBy === this.#heldBy) return this.#pause();
    this.#heldBy = heldBy;
    const stored = [...this.#waiting.values()].filter(({ isStored }) => isStored);
    const items = await this.#stored.readEvents();
    const still = new Set(items.flatMap(({ id, status }) => (status === "waiting" ? [id] : [])));
    for (const waiting of stored) if (!still.has(waiting.id)) this.#follow(waiting);
    if (heldBy !== null || this.#waiting.size === 0) return;
    const next = nextInQueue(items, await this.#stored.settings());
    if (next === null) return;
    const leftMs = next.dueMs - this.#stored.now();
    // Another message, or another process, may change what is next.
    const isOther = leftMs > 0 && ((await this.#isWokenWithin(leftMs)) || (await this.#isHeld()));
    if (!isOther && !this.#live.isBusy && !this.#isClosed) await this.#runNext(next);
  }

  async #isHeld(): Promise<boolean> {
    return (await this.#stored.findHolder()) !== null;
  }

  /** After news, the queue is read again. */
  async #pause(): Promise<void> {
    if (await this.#isWokenWithin(pollMs)) this.#heldBy = null;
  }

  async #runNext({ id, takes, ...asked }: QueuedTurn): Promise<void> {
    const own = this.#waiting.get(id);
    const parts = own?.parts ?? createTurnHandle(id);
    parts.steering.take(takes);
    const turn = this.#occupy(parts, asked);
    const error = await whenOpened(parts, turn);
    if (this.#mustWait(error)) return this.#pause();
    if (error !== null) throw error;
    this.#waiting.delete(id);
    if (own === undefined) parts.follow(turn);
    else own.end.resolve(turn);
    const others = takes.flatMap((each) => this.#waiting.get(each) ?? []);
    for (const other of others) this.#join(other, parts.handle);
    await turn.catch(() => {});
  }

  #mustWait(error: unknown): boolean {
    const isLeftOpen = error instanceof TurnLeftOpen && !this.#live.settlesTurns;
    return error instanceof SessionBusy && !isLeftOpen;
  }

  #occupy(parts: HandleParts, asked: AskedTurn | null): Promise<TurnResult> {
    const abort = (reason: string): void => parts.handle.abort(reason);
    const live = this.#live;
    return live.occupy(() => (asked === null ? live.resume(parts) : live.run(parts, asked)), abort);
  }

  async #isWokenWithin(ms: number): Promise<boolean> {
    const done = new AbortController();
    const over = wait(ms, false, { signal: done.signal }).catch(() => false);
    const isWoken = await Promise.race([over, this.#news.promise.then(() => true)]);
    done.abort();
    return isWoken;
  }

  #wake(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}

/** Null once the turn is open in the ledger, or the error that prevented it. */
function whenOpened(
  { steering }: HandleParts,
  turn: Promise<TurnResult>,
): Promise<StrataError | null> {
  const isOver = turn.then(
    () => null,
    (error: unknown) => toStrataError(error, "the turn"),
  );
  return Promise.race([steering.opened.then(() => null), isOver]);
}

function toWaiting(parts: HandleParts): Waiting {
  const end = Promise.withResolvers<TurnResult>();
  end.promise.catch(() => {});
  return { id: parts.handle.turnId, parts, end, isStored: false };
}
