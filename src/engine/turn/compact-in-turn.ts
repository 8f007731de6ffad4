// Shortens the history before the running turn, and parts of the turn that are too long.
import { assert } from "../../core/assert.ts";
import type { CompactionResult, Step } from "../../core/turn/step.ts";
import type { StepDeps } from "./deps.ts";
import { runCompaction } from "../compaction/run-compaction.ts";
import type { RunningTurn } from "./running-turn.ts";

export async function compactInTurn(
  { trigger, prepared, nowMs }: Extract<Step, { readonly do: "compact" }>,
  { turn, lease, emitter }: RunningTurn,
  deps: StepDeps,
): Promise<CompactionResult> {
  const { session, current } = turn;
  const { ledger } = deps;
  assert(ledger !== undefined, "only a recorded history is compacted");
  const run = await runCompaction(
    {
      session,
      lease,
      stagedCount: current.length,
      prepared,
      nowMs: nowMs ?? deps.now(),
      ...(trigger === "overflow" ? { asked: "overflow_recovery" } : {}),
    },
    { ...deps, ledger },
    emitter,
  );
  if (run.kind === "unchanged") {
    return { isCompacted: false, session: run.session, isTight: run.isTight };
  }
  return { isCompacted: true, session: run.session, before: run.before, current: run.current };
}
