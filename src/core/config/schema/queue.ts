// queue: what happens to messages that come while a session is busy.
import { choice, whole } from "../leaves.ts";
import { group } from "../sections.ts";
import type { Spec } from "../spec.ts";

/**
 * `steer`: into the running turn. `follow-up`: a turn of its own, afterwards. `collect`: one turn with the others that
 * wait. `interrupt`: stops the running turn and runs next.
 */
export const queueModes = ["steer", "follow-up", "collect", "interrupt"] as const;

export type QueueMode = (typeof queueModes)[number];

/** `summarize`: the oldest one is dropped, and the next turn lists it in a line. */
export const queueDrops = ["old", "new", "summarize"] as const;

export interface QueueConfig {
  readonly mode: QueueMode;
  /** A collected turn begins when no other message came for this long. */
  readonly debounceMs: number;
  /** The most messages that wait in a session. */
  readonly cap: number;
  /** Which message is dropped when the queue is full. */
  readonly drop: (typeof queueDrops)[number];
}

export const debounceMsMax = 600_000;
export const capMax = 10_000;

export const usualQueue: QueueConfig = {
  mode: "follow-up",
  debounceMs: 1000,
  cap: 20,
  drop: "new",
};

export const queue: Spec<QueueConfig> = group("messages that come while a session is busy", {
  mode: choice(
    queueModes,
    usualQueue.mode,
    "what becomes of a message that does not say it: into the running turn, a turn of its own, one turn with the others that wait, or the running turn is stopped for it",
  ),
  debounceMs: whole(
    { usual: usualQueue.debounceMs, min: 0, max: debounceMsMax },
    "collected messages get their turn when no other one came for this long",
  ),
  cap: whole(
    { usual: usualQueue.cap, min: 1, max: capMax },
    "the most messages that wait in a session",
  ),
  drop: choice(
    queueDrops,
    usualQueue.drop,
    "what a full queue drops: the oldest message, the new one, or the oldest with a line about it in the next turn",
  ),
});
