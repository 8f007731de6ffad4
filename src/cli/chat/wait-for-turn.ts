// A session whose last turn is open: somebody works on it, or did until their process died.
import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Outside } from "./outside.ts";

export interface Waiting {
  /** Told once where it takes a while. */
  readonly say: (text: string) => void;
  readonly outside: Pick<Outside, "ended" | "isEnded">;
}

/** Whether there is a turn to go on with. Waits while somebody works on it, or their lease has not ended yet. */
export async function waitForTurn(
  ledger: Pick<Ledger, "findSession" | "findUnfinished">,
  sessionId: string,
  { say, outside }: Waiting,
): Promise<"no turn" | "left open" | "given up"> {
  for (let isSaid = false; !outside.isEnded(); isSaid = true) {
    const record = await ledger.findSession(sessionId);
    if (record === null || record.openTurnId === null) return "no turn";
    if ((await ledger.findUnfinished(sessionId)) !== null) return "left open";
    if (!isSaid) {
      say("Somebody works on the session, or did a moment ago: waiting until the turn is free.");
    }
    await Promise.race([sleep(intervalMs), outside.ended]);
  }
  return "given up";
}

const intervalMs = 500;
