// Waits for a session whose last turn is open: a process runs it, or died and left a lease.
import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger } from "../../../core/ledger/ledger.ts";
import type { Outside } from "../outside.ts";

export interface Waiting {
  /** Called once if there is a wait. */
  readonly onWait: (text: string) => void;
  readonly outside: Pick<Outside, "ended" | "isEnded">;
}

/** Whether there is a turn to resume. Waits while a process holds its lease. */
export async function waitForTurn(
  ledger: Pick<Ledger, "findSession" | "findUnfinished">,
  sessionId: string,
  { onWait, outside }: Waiting,
): Promise<"no turn" | "left open" | "given up"> {
  for (let isReported = false; !outside.isEnded(); isReported = true) {
    const record = await ledger.findSession(sessionId);
    if (record === null || record.openTurnId === null) return "no turn";
    if ((await ledger.findUnfinished(sessionId)) !== null) return "left open";
    if (!isReported) {
      onWait(
        "Another process runs this session, or did a moment ago: waiting until the turn is free.",
      );
    }
    await Promise.race([sleep(intervalMs), outside.ended]);
  }
  return "given up";
}

const intervalMs = 500;
