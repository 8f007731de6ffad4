// An event of the ledger as the API shows it, with its place in the order of all.
import { toIso } from "../../analytics/time-window.ts";
import type { PlacedEvent } from "../../edge/stores/ledger/event-feed.ts";
import { count, moment, named, orNull, text, type Schema } from "../routes/schema.ts";

export interface LiveEvent {
  readonly position: number;
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly session: string;
  readonly turn: string | null;
  readonly payload: object;
}

export const eventMembers: Readonly<Record<string, Schema>> = {
  position: count(
    "its place in the order in which events became visible; `Last-Event-ID` of a stream",
  ),
  id: text("its name"),
  type: text("docs/events.md lists them"),
  at: moment("in UTC"),
  session: text("its session or conversation"),
  turn: orNull(text("null outside of turns")),
  payload: named({}, "as docs/events.md says for its type"),
};

/** Null for an event that a later version of the program wrote. */
export function toLiveEvent({ position, event }: PlacedEvent): LiveEvent | null {
  if (event === null) return null;
  const { id, type, timestampUs, sessionId, turnId, payload } = event;
  const at = toIso(Math.floor(timestampUs / 1000));
  return { position, id, type, at, session: sessionId, turn: turnId, payload };
}
