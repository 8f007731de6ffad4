// Messages that wait for a session: they come while a turn runs, and outlive the process that took them.
import type { QueueMode } from "../config/schema/queue.ts";
import type { JsonText } from "../message/message.ts";
import { StrataError } from "../strata-error.ts";

/** `summarized`: dropped, but the next turn lists it in a line. */
export const queueStatuses = ["waiting", "summarized", "taken", "dropped"] as const;

export type QueueStatus = (typeof queueStatuses)[number];

export interface NewQueueItem {
  /** Unique. A turn of its own gets this id, so it cannot run twice. */
  readonly id: string;
  readonly sessionId: string;
  readonly mode: QueueMode;
  /** The event, as JSON text. */
  readonly eventJson: JsonText;
  /** The model for its turn only; null for none. */
  readonly model: string | null;
  readonly queuedMs: number;
}

export interface QueueItem extends NewQueueItem {
  /** Its place in the session's queue: a later item has a higher one. */
  readonly seq: number;
  readonly status: QueueStatus;
  /** The turn that took or listed it; null for none. */
  readonly turnId: string | null;
  /** Why it was dropped; null otherwise. */
  readonly reason: string | null;
}

/** How waiting items leave the queue without a turn. */
export interface QueueDrop {
  readonly status: Extract<QueueStatus, "dropped" | "summarized">;
  readonly reason: string;
}

/** The session cannot take this turn now, but will later: others work on it, have changed it, or wait before it. */
export class SessionBusy extends StrataError {}

/** A process left a turn open: it must be resumed or abandoned first. */
export class TurnLeftOpen extends SessionBusy {}
