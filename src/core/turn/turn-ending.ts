// How a turn ends.

/** `cut off`: the reply ended inside or before a tool use that cannot be run. */
export type TurnEnding = "done" | "failed" | "cancelled" | "cut off" | "too many calls";
