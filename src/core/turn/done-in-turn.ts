// What a turn did besides its calls: tools that ran, and compactions.
import type { CompactionDetails, NewCompaction } from "../ledger/compaction-record.ts";
import type { ToolCallRecord } from "../ledger/turn-record.ts";
import { withMoneyAsText } from "../models/pico-usd.ts";

/** A tool that ran, and when. A use that was refused did not run. */
export interface ToolRun {
  readonly toolUseId: string;
  readonly name: string;
  /** The call whose reply asked for it: a provider may repeat an id in a later reply. */
  readonly callNumber: number;
  readonly startMs: number;
  readonly endMs: number;
  /** The session of the sub-agent that it started. */
  readonly spawnedSessionId?: string;
}

/** The tools that the ledger knows to have run. */
export function toToolRuns(records: readonly ToolCallRecord[]): readonly ToolRun[] {
  return records.flatMap(({ toolUseId, name, callNumber, startMs, endMs, spawnedSessionId }) =>
    startMs === null || endMs === null
      ? []
      : [
          {
            toolUseId,
            name,
            callNumber,
            startMs,
            endMs,
            ...(spawnedSessionId !== null && { spawnedSessionId }),
          },
        ],
  );
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
