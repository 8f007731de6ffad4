// spending: caps on what calls may cost, in dollars.
import { optionalNumber, text } from "../leaves.ts";
import { group } from "../sections.ts";
import type { Spec } from "../spec.ts";

/** Null for no cap. */
export interface AgentSpending {
  readonly sessionUsd: number | null;
  readonly agentUsd: number | null;
}

export interface SpendingConfig extends AgentSpending {
  readonly dayUsd: number | null;
  readonly timezone: string | null;
}

export function dollars(meaning: string): Spec<number | null> {
  return optionalNumber("dollars, a number from 0", isAmount, meaning);
}

/** The ledger holds sums up to 9.2 million dollars. */
function isAmount(usd: number): boolean {
  return usd >= 0 && usd <= 9_000_000;
}

export const spending: Spec<SpendingConfig> = group(
  "caps on what calls may cost; a call that might pass one is not sent",
  {
    sessionUsd: dollars("for a session with its sub-agents"),
    agentUsd: dollars("for all sessions of an agent in the ledger"),
    dayUsd: dollars("for everything in the ledger since the day began"),
    timezone: text("where the day begins, as Europe/Berlin; default: UTC"),
  },
);

export const agentSpending: Spec<AgentSpending> = group(
  "its own caps; default: those under spending",
  {
    sessionUsd: dollars("for each of its sessions, with their sub-agents"),
    agentUsd: dollars("for all its sessions in the ledger"),
  },
);
