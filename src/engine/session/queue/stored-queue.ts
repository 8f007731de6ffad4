// A session's queue in the ledger: adds messages within its limits, reads them, drops them. Every process has the same one.
import { queueOf } from "../engine-config.ts";
import type { QueueConfig } from "../../../core/config/schema/queue.ts";
import { readEvent, type AgentEvent } from "../../../core/layers/event.ts";
import type { Ledger } from "../../../core/ledger/ledger.ts";
import type { NewQueueItem, QueueDrop, QueueItem } from "../../../core/ledger/queue-record.ts";
import type { Message } from "../../../core/message/message.ts";
import type { ReadItem } from "../../../core/session/next-in-queue.ts";
import type { Session } from "../../../core/session/session.ts";
import { messageOf, StrataError } from "../../../core/strata-error.ts";
import { emitDropped, type DropCause } from "../../events/session-events.ts";
import { checkEvent } from "../check-input.ts";
import type { EngineContext } from "../engine-deps.ts";

/** A message that left the queue without a turn, and why. */
export interface Dropped {
  readonly ids: readonly string[];
  readonly reason: string;
}

export class StoredQueue {
  readonly #context: EngineContext;
  readonly #id: string;
  readonly #role: Session["role"];

  constructor(context: EngineContext, { id, role }: Pick<Session, "id" | "role">) {
    this.#context = context;
    this.#id = id;
    this.#role = role;
  }

  get ledger(): Ledger {
    return this.#context.deps.ledger;
  }

  async settings(): Promise<QueueConfig> {
    return queueOf(await this.#context.readConfig());
  }

  /** Throws if no turn could begin with the event. */
  toMessage(event: AgentEvent): Message {
    return readEvent(event, this.#role, { iso: "" }).current;
  }

  async add(item: Omit<NewQueueItem, "sessionId" | "queuedMs">): Promise<void> {
    await this.ledger.enqueue({ ...item, sessionId: this.#id, queuedMs: this.now() });
  }

  async readWaiting(): Promise<readonly QueueItem[]> {
    const items = await this.ledger.readQueue(this.#id);
    return items.filter(({ status }) => status === "waiting");
  }

  /** What waits, and what the next turn lists in a line. Drops items that cannot be read: they would stop the queue for good. */
  async readEvents(): Promise<readonly ReadItem[]> {
    const read: ReadItem[] = [];
    for (const { eventJson, ...item } of await this.ledger.readQueue(this.#id)) {
      try {
        const event = checkEvent(JSON.parse(eventJson));
        this.toMessage(event);
        read.push({ ...item, event });
      } catch (error) {
        const reason = `it cannot be read: ${messageOf(error)}`;
        await this.drop([item.id], { status: "dropped", reason }, "unreadable");
      }
    }
    return read;
  }

  /** Makes room for one more message, or refuses it. */
  async makeRoom({ cap, drop }: QueueConfig): Promise<Dropped> {
    const items = await this.readWaiting();
    const reason = `the queue of session ${this.#id} has room for ${cap}`;
    if (items.length < cap) return { ids: [], reason };
    // A steered message may be in the running turn already.
    const oldest = items.filter(({ mode }) => mode !== "steer").slice(0, items.length - cap + 1);
    if (drop === "new" || oldest.length === 0) {
      const hint = "wait until some messages had their turn, and say it again";
      throw new StrataError("conflict", reason, hint);
    }
    const status = drop === "old" ? "dropped" : "summarized";
    return this.drop(
      oldest.map(({ id }) => id),
      { status, reason },
      "queue_full",
    );
  }

  /** Those that still waited are gone after this. */
  async drop(ids: readonly string[], how: QueueDrop, cause: DropCause): Promise<Dropped> {
    const gone = await this.ledger.dropQueued(ids, how);
    for (const id of gone) {
      emitDropped(this.#context.deps.events, this.#id, { id, status: how.status, cause });
    }
    return { ids: gone, reason: how.reason };
  }

  /** The turn that another process runs in the session; null for none. */
  async findHolder(): Promise<string | null> {
    const openTurnId = (await this.ledger.findSession(this.#id))?.openTurnId ?? null;
    if (openTurnId === null) return null;
    return (await this.ledger.findUnfinished(this.#id)) === null ? openTurnId : null;
  }

  now(): number {
    return (this.#context.deps.now ?? Date.now)();
  }
}
