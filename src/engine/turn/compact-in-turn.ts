// Shortens the history before the running turn, and what of the turn itself is too long.
import { assert } from "../../core/assert.ts";
import type { CompactionResult, Step } from "../../core/turn/step.ts";
import type { StepEdges } from "./edges.ts";
import { runCompaction } from "../compaction/run-compaction.ts";
import type { RunningTurn } from "./running-turn.ts";

export async function compactInTurn(
  { trigger, prepared, nowMs }: Extract<Step, { readonly do: "compact" }>,
  { turn, lease, teller }: RunningTurn,
  edges: StepEdges,
): Promise<CompactionResult> {
  const { session, current } = turn;
  const { ledger } = edges;
  assert(ledger !== undefined, "only a recorded history is compacted");
  const run = await runCompaction(
    {
      session,
      lease,
      stagedCount: current.length,
      prepared,
      nowMs: nowMs ?? edges.now(),
      ...(trigger === "overflow" ? { asked: "overflow_recovery" } : {}),
    },
    { ...edges, ledger },
    teller,
  );
  if (run.kind === "unchanged") {
    return { isCompacted: false, session: run.session, isTight: run.isTight };
  }
  return { isCompacted: true, session: run.session, before: run.before, current: run.current };
}
