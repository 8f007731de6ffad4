// The messages that wait for a session in this process, with the handles of their callers. What waits is in the ledger: this
// runs it in its order, whoever queued it, and tells each caller what became of its message.
import { setTimeout as wait } from "node:timers/promises";
import type { QueueMode } from "../../core/config/schema/queue.ts";
import { readEvent } from "../../core/layers/event.ts";
import { SessionBusy, type QueueItem } from "../../core/ledger/queue-record.ts";
import type { Message } from "../../core/message/message.ts";
import { nextInQueue, type QueuedTurn, type ReadItem } from "../../core/session/next-in-queue.ts";
import { messageOf, StrataError, toStrataError } from "../../core/strata-error.ts";
import type { TurnResult } from "../../core/turn/turn-result.ts";
import { emitDropped } from "../events/session-events.ts";
import { createTurnHandle, type HandleParts, type TurnHandle } from "../turn/turn-handle.ts";
import { checkEvent } from "./check-input.ts";
import { queueOf } from "./engine-config.ts";
import type { EngineContext } from "./engine-deps.ts";
import type { LiveSession } from "./live-session.ts";
import { findResult } from "./recorded-result.ts";
import type { AskedTurn } from "./route-turn.ts";

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

/** How often it is looked whether another process is done. */
const pollMs = 200;

export class SessionQueue {
  readonly #context: EngineContext;
  readonly #live: LiveSession;
  /** By the id of the queue item. */
  readonly #waiting = new Map<string, Waiting>();
  /** Whether the last message is in the ledger: in a turn, or in the queue. */
  #adding: Promise<void> = Promise.resolve();
  #isDeciding = false;
  #isRunning = false;
  #isClosed = false;
  #news = Promise.withResolvers<void>();

  constructor(context: EngineContext, live: LiveSession) {
    this.#context = context;
    this.#live = live;
  }

  /** Runs the turn at once if nothing else runs or waits. */
  run(parts: HandleParts, asked: AskedInQueue): void {
    this.#live.requireOpen();
    const isFree = !this.#live.isBusy && !this.#isDeciding && this.#waiting.size === 0;
    if (isFree) this.#runNow(parts, asked);
    else this.#add(toWaiting(parts), asked);
  }

  /** Runs what waits in the ledger. One handle for each message, oldest first. */
  async runWaiting(): Promise<readonly TurnHandle[]> {
    this.#live.requireOpen();
    const items = await this.#read();
    const handles = items.map(({ id, mode }) => {
      const known = this.#waiting.get(id);
      if (known !== undefined) return known.parts.handle;
      const waiting = toWaiting(createTurnHandle(id));
      this.#waiting.set(id, waiting);
      this.#stored(waiting, mode);
      return waiting.parts.handle;
    });
    this.#runAll();
    return handles;
  }

  /** What waits stays in the ledger, and its callers are told. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.#adding;
    this.#fail(closed(this.#id));
  }

  get #id(): string {
    return this.#live.session.id;
  }

  get #ledger(): EngineContext["deps"]["ledger"] {
    return this.#context.deps.ledger;
  }

  /** A session that another process works on, or where messages wait, queues this one too. */
  #runNow(parts: HandleParts, asked: AskedInQueue): void {
    parts.take([]);
    const waiting = toWaiting(parts, false);
    const turn = this.#occupy(parts, asked);
    this.#isDeciding = true;
    const decided = Promise.race([parts.opened, turn.then(undefinedOf, (error: unknown) => error)]);
    this.#adding = decided.then((error) => {
      this.#isDeciding = false;
      if (!(error instanceof SessionBusy)) return;
      this.#waiting.set(waiting.id, waiting);
      return this.#store(waiting, asked);
    });
    const isBusy = (error: unknown): Promise<TurnResult> => {
      if (error instanceof SessionBusy) return waiting.end.promise;
      throw error;
    };
    parts.follow(turn.catch(isBusy));
  }

  /** One after the other: the ledger keeps the order of the calls. */
  #add(waiting: Waiting, asked: AskedInQueue): void {
    const { id } = waiting;
    if (this.#waiting.has(id)) return waiting.end.reject(sameId(id));
    this.#waiting.set(id, waiting);
    this.#adding = this.#adding.then(() => this.#store(waiting, asked));
  }

  async #store(waiting: Waiting, { event, model, mode: asked }: AskedInQueue): Promise<void> {
    const { id, parts } = waiting;
    try {
      const message = this.#toMessage(event);
      const { mode: usual, cap, drop } = queueOf(await this.#context.readConfig());
      const mode = asked ?? usual;
      if (parts.signal.aborted) throw withdrawn(this.#id);
      await this.#makeRoom(cap, drop);
      const queuedMs = this.#now();
      const eventJson = JSON.stringify(event);
      await this.#ledger.enqueue({ id, sessionId: this.#id, mode, eventJson, model, queuedMs });
      this.#stored(waiting, mode);
      if (mode === "steer") this.#steer(waiting, message);
      if (mode === "interrupt") this.#live.interrupt("interrupted by another message");
      this.#runAll();
    } catch (error) {
      this.#end(waiting, toStrataError(error, `queueing a message for session ${this.#id}`));
    }
  }

  #stored(waiting: Waiting, mode: QueueMode): void {
    const { id, parts } = waiting;
    waiting.isStored = true;
    parts.emit({ type: "queued", id, mode });
    parts.signal.addEventListener("abort", () => void this.#withdraw(waiting));
    this.#wake();
  }

  #toMessage(event: AskedInQueue["event"]): Message {
    return readEvent(event, this.#live.session.role, { iso: "" }).current;
  }

  /** A message that the turn does not take before it ends gets a turn of its own. */
  #steer(waiting: Waiting, message: Message): void {
    const turn = this.#live.running;
    if (turn === null || turn.handle.phase === "over") return;
    const onTaken = (): void => this.#join(waiting, turn.handle);
    turn.steer({ id: waiting.id, message, onTaken });
    waiting.unsteer = () => turn.handle.phase === "over" || turn.unsteer(message);
  }

  #join(waiting: Waiting, turn: TurnHandle): void {
    this.#waiting.delete(waiting.id);
    waiting.parts.join(turn);
    waiting.end.resolve(turn.result);
  }

  #end({ id, end }: Waiting, error: StrataError): void {
    this.#waiting.delete(id);
    end.reject(error);
  }

  #fail(error: StrataError): void {
    for (const waiting of this.#waiting.values()) this.#end(waiting, error);
  }

  async #withdraw(waiting: Waiting): Promise<void> {
    if (!this.#waiting.has(waiting.id) || waiting.unsteer?.() === false) return;
    await this.#drop([waiting.id], "dropped", "its caller withdrew it").catch(() => {});
  }

  async #makeRoom(cap: number, drop: "old" | "new" | "summarize"): Promise<void> {
    const items = await this.#read();
    if (items.length < cap) return;
    const full = `the queue of session ${this.#id} has room for ${cap}`;
    if (drop === "new") throw refused(full);
    // A steered message may be in the running turn already.
    const oldest = items.filter(({ mode }) => mode !== "steer").slice(0, items.length - cap + 1);
    if (oldest.length === 0) throw refused(full);
    const ids = oldest.map(({ id }) => id);
    await this.#drop(ids, drop === "old" ? "dropped" : "summarized", full);
  }

  async #drop(
    ids: readonly string[],
    status: "dropped" | "summarized",
    reason: string,
  ): Promise<void> {
    for (const id of await this.#ledger.dropQueued(ids, { status, reason })) {
      emitDropped(this.#context.deps.events, this.#id, { id, status, reason });
      const waiting = this.#waiting.get(id);
      if (waiting !== undefined) this.#end(waiting, dropped(reason));
    }
  }

  /** Runs until no message of this process waits. */
  #runAll(): void {
    if (this.#isRunning || this.#isClosed) return;
    this.#isRunning = true;
    const work = async (): Promise<void> => {
      while (this.#waiting.size > 0 && !this.#isClosed) await this.#advance();
    };
    void work()
      .catch((error: unknown) => this.#fail(toStrataError(error, `the queue of ${this.#id}`)))
      .finally(() => {
        this.#isRunning = false;
      });
  }

  async #advance(): Promise<void> {
    await this.#adding;
    await this.#live.idle();
    const stored = [...this.#waiting.values()].filter(({ isStored }) => isStored);
    const items = await this.#readEvents();
    for (const waiting of stored) await this.#checkWaits(waiting, items);
    const next = nextInQueue(items, queueOf(await this.#context.readConfig()));
    if (next === null || this.#waiting.size === 0) return;
    if (await this.#isNewsBefore(next.dueMs)) return;
    if (await this.#isHeldElsewhere()) await this.#sleep(pollMs);
    else if (!this.#live.isBusy && !this.#isClosed) await this.#runNext(next);
  }

  async #runNext({ id, takes, ...asked }: QueuedTurn): Promise<void> {
    const own = this.#waiting.get(id);
    const parts = own?.parts ?? createTurnHandle(id);
    parts.take(takes);
    const turn = this.#occupy(parts, asked);
    let isOpen = false;
    void parts.opened.then(() => {
      isOpen = true;
      if (own === undefined) parts.follow(turn);
      else own.end.resolve(turn);
      this.#waiting.delete(id);
      for (const each of takes) {
        const other = this.#waiting.get(each);
        if (other !== undefined) this.#join(other, parts.handle);
      }
    });
    await turn.catch(async (error: unknown) => {
      if (isOpen) return;
      if (!(error instanceof SessionBusy)) throw error;
      await this.#sleep(pollMs);
    });
  }

  #occupy(parts: HandleParts, asked: AskedTurn): Promise<TurnResult> {
    const abort = (reason: string): void => parts.handle.abort(reason);
    return this.#live.occupy(() => this.#live.run(parts, asked), abort);
  }

  /** Another process may have taken or dropped the message. */
  async #checkWaits(waiting: Waiting, items: readonly ReadItem[]): Promise<void> {
    const { id } = waiting;
    if (items.some((item) => item.id === id && item.status === "waiting")) return;
    if (!this.#waiting.has(id)) return;
    const item = await this.#ledger.findQueued(id);
    if (item?.turnId == null || item.status !== "taken") {
      return this.#end(waiting, dropped(item?.reason ?? `session ${this.#id} was deleted`));
    }
    this.#waiting.delete(id);
    waiting.end.resolve(this.#followTurn(waiting, item.turnId));
  }

  /** Waits for a turn of another process, and finishes it if that process died. */
  async #followTurn({ parts }: Waiting, turnId: string): Promise<TurnResult> {
    for (;;) {
      if (this.#isClosed) throw closed(this.#id);
      const result = await findResult(this.#context, this.#id, turnId);
      if (result !== null) {
        parts.started(turnId);
        this.#live.setStale();
        return result;
      }
      const open = await this.#ledger.findUnfinished(this.#id);
      if (open?.turn.id === turnId && !this.#live.isBusy) {
        this.#live.setStale();
        const abort = (reason: string): void => parts.handle.abort(reason);
        return this.#live.occupy(() => this.#live.resume(parts), abort);
      }
      await wait(pollMs);
    }
  }

  /** Whether another process works on the session. */
  async #isHeldElsewhere(): Promise<boolean> {
    const record = await this.#ledger.findSession(this.#id);
    if (record?.openTurnId == null) return false;
    return (await this.#ledger.findUnfinished(this.#id)) === null;
  }

  async #read(): Promise<readonly QueueItem[]> {
    const items = await this.#ledger.readQueue(this.#id);
    return items.filter(({ status }) => status === "waiting");
  }

  /** An item that cannot be read, of an import for example, would stop the queue for good. */
  async #readEvents(): Promise<readonly ReadItem[]> {
    const read: ReadItem[] = [];
    for (const { eventJson, ...item } of await this.#ledger.readQueue(this.#id)) {
      try {
        const event = checkEvent(JSON.parse(eventJson));
        this.#toMessage(event);
        read.push({ ...item, event });
      } catch (error) {
        await this.#drop([item.id], "dropped", `it cannot be read: ${messageOf(error)}`);
      }
    }
    return read;
  }

  /** True if something was queued before that time, which may change what is next. */
  async #isNewsBefore(dueMs: number): Promise<boolean> {
    const leftMs = dueMs - this.#now();
    return leftMs > 0 && this.#sleep(leftMs);
  }

  /** True if it was woken. */
  async #sleep(ms: number): Promise<boolean> {
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

  #now(): number {
    return (this.#context.deps.now ?? Date.now)();
  }
}

function undefinedOf(): undefined {
  return undefined;
}

/** `isFollowed`: whether the handle ends with what becomes of the waiting message. */
function toWaiting(parts: HandleParts, isFollowed = true): Waiting {
  const end = Promise.withResolvers<TurnResult>();
  end.promise.catch(() => {});
  if (isFollowed) parts.follow(end.promise);
  return { id: parts.handle.turnId, parts, end, isStored: false };
}

function sameId(id: string): StrataError {
  return new StrataError("conflict", `${id} already waits`, "give every message its own id");
}

function refused(full: string): StrataError {
  return new StrataError("conflict", full, "wait until some messages had their turn, and say it again");
}

function dropped(reason: string): StrataError {
  return new StrataError(
    "conflict",
    `the message was dropped from the queue: ${reason}`,
    "say it again, or change queue.cap and queue.drop",
  );
}

function withdrawn(id: string): StrataError {
  return dropped(`its caller withdrew it from session ${id}`);
}

function closed(id: string): StrataError {
  return new StrataError(
    "conflict",
    `session ${id} was closed before the message had its turn`,
    "the message waits in the ledger: open the session again and call runWaiting",
  );
}
