// What a turn did besides its calls: tools that ran, and compactions.
import type { CompactionDetails, NewCompaction } from "../ledger/compaction-record.ts";
import { withMoneyAsText } from "../models/pico-usd.ts";

/** When a tool ran. */
export interface ToolRun {
  readonly toolUseId: string;
  readonly startMs: number;
  readonly endMs: number;
  /** The session of the sub-agent that it started. */
  readonly spawnedSessionId?: string;
}

/** A compaction without its index and the numbers behind the decision, which the ledger has. */
export interface TurnCompaction extends Omit<CompactionDetails, "indexJson" | "metadataJson"> {
  /** The id of the turn that records it. */
  readonly turnId: string;
}

export function toTurnCompaction({
  id,
  details,
}: Pick<NewCompaction, "id" | "details">): TurnCompaction {
  const { indexJson: _, metadataJson: __, ...shown } = details;
  return withMoneyAsText({ firstKeptIndex: 0, ...shown, turnId: id });
}
