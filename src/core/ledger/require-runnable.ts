// Which sessions can be run: not a conversation of another program, of which the ledger has no message.
import { StrataError } from "../strata-error.ts";
import type { SessionRecord } from "./session-record.ts";

/** Refuses what the gateway only saw. */
export function requireRunnable({ id, agent, origin }: SessionRecord): void {
  if (origin === "engine") return;
  throw new StrataError(
    "conflict",
    `session ${id} is a conversation of ${agent} that the gateway saw; its messages are not stored`,
    `continue it in ${agent}; what it cost: strata stats sessions`,
  );
}
