// What the actions of a writer share: the ledger, randomness, reporting and text.
import { randomBytes } from "node:crypto";
import { createText } from "../../harness/ledger-turns.ts";
import type { Random } from "../../harness/random-message.ts";
import { createEventIds } from "../../src/core/events/event-ids.ts";
import { completeEvent, type StrataEvent } from "../../src/core/events/event.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { StrataError } from "../../src/core/strata-error.ts";
import { factOf, type Counted, type Facts, type Tried } from "./facts.ts";

export interface Stage {
  readonly ledger: Ledger;
  readonly random: Random;
  /** Reports before and after the work; false if the ledger refused it because of a conflict. */
  attempt(tried: Tried, work: () => Promise<unknown>): Promise<boolean>;
  count(what: Counted): void;
  /** Slows down in shared sessions, so that other writers can interfere. */
  pause(sessionId: string): Promise<void>;
  /** Blocks the process with its heartbeat until the lease expires, in shared sessions only. */
  stall(sessionId: string): void;
}

/** Whether the ledger refused because of a conflict. */
export function isConflict(error: unknown): boolean {
  return error instanceof StrataError && error.code === "conflict";
}

/** Mostly short; sometimes long enough for a commit to touch many pages. */
export function randomText(random: Random): string {
  const isLong = random() < 0.03;
  return createText(random, isLong ? 100_000 + random() * 200_000 : 20 + random() * 4000);
}

export function eventFacts(events: readonly StrataEvent[]): Facts {
  return Object.assign({}, ...events.map(({ id, type }) => factOf.event(id, type)));
}

const eventIds = createEventIds();

export function createEvent(sessionId: string, turnId: string | null): StrataEvent {
  const now = Date.now();
  return completeEvent(
    {
      sessionId,
      turnId,
      type: "session.resumed",
      payload: { workspace_hash: "0".repeat(64), last_event_id_at_resume: null },
    },
    { id: eventIds.next(now, randomBytes(10)), timestampUs: now * 1000 },
  );
}
