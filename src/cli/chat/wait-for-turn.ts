// A session whose last turn is open: somebody works on it, or did until their process died.
import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Io } from "../command.ts";

/** Whether there is a turn to go on with. Waits while somebody works on it, or their lease has not ended yet. */
export async function waitForTurn(
  ledger: Pick<Ledger, "findSession" | "findUnfinished">,
  sessionId: string,
  { error }: Pick<Io, "error">,
): Promise<boolean> {
  for (let isSaid = false; ; isSaid = true) {
    const record = await ledger.findSession(sessionId);
    if (record === null || record.openTurnId === null) return false;
    if ((await ledger.findUnfinished(sessionId)) !== null) return true;
    if (!isSaid) {
      error(
        "Somebody works on the session, or did a moment ago: waiting until the turn is free. Ctrl-C gives up.\n",
      );
    }
    await sleep(intervalMs);
  }
}

const intervalMs = 500;
