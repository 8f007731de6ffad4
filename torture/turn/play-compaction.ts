// The interpreter of the compaction's machine, as src/engine/compaction/run-compaction.ts has it.
import {
  applyCompactionResult,
  beginCompaction,
} from "../../src/core/turn/compaction/apply-compaction-result.ts";
import type {
  Compacting,
  CompactionOutcome,
  CompactionResult,
  CompactionStep,
} from "../../src/core/turn/compaction/compacting.ts";
import { toCompactionInput } from "../../src/core/turn/compaction/compaction-input.ts";
import { nextCompactionStep } from "../../src/core/turn/compaction/next-compaction-step.ts";
import type { Step } from "../../src/core/turn/step.ts";
import type { Turn } from "../../src/core/turn/turn.ts";
import type { Place } from "./course.ts";
import { commitLoss, isLockFree, providerNotesOf, summaryOf } from "./outcomes.ts";
import type { Process } from "./play.ts";

export function playCompaction(
  { bySize, prepared, nowMs }: Extract<Step, { readonly do: "compact" }>,
  { id, session, current }: Turn,
  place: Place,
  life: Process,
): CompactionOutcome {
  const { log, now, rules } = life;
  const openTurn = { id, parentTurnId: log.parentOf(id) };
  const request = {
    session,
    openTurn,
    stagedCount: current.length,
    prepared,
    nowMs: nowMs ?? now(),
    compaction: rules,
    ...(bySize === null ? { asked: "overflow_recovery" as const } : { bySize }),
  };
  let work = beginCompaction(request);
  for (;;) {
    const step = nextCompactionStep(work);
    if (step.do === "end") return countOutcome(step.outcome, life);
    if (step.do === "keep state")
      throw new Error("inside a turn the state is kept with the next call");
    life.reach(`compaction: ${step.do}`, place);
    const result = carryOut(step, work, place, life);
    life.leave(`compaction: ${step.do}`, place);
    const isNews = life.isAborted && !work.isAborted;
    work = applyCompactionResult(isNews ? { ...work, isAborted: true } : work, {
      ...result,
      nowMs: now(),
    });
  }
}

type Untimed<Timed> = Timed extends unknown ? Omit<Timed, "nowMs"> : never;

function carryOut(
  step: Exclude<CompactionStep, { readonly do: "end" | "keep state" }>,
  { request: { session, openTurn, stagedCount } }: Compacting,
  place: Place,
  // oxlint-disable-next-line typescript/unbound-method
  { course, log, now, isAborted, count }: Process,
): Untimed<CompactionResult> {
  if (openTurn === null) throw new Error("courses compact within turns");
  switch (step.do) {
    case "read history": {
      const input = toCompactionInput(session, openTurn, stagedCount, log.shown(openTurn.id));
      return { did: step.do, input, skillsLoaded: [] };
    }
    case "lock":
      return { did: step.do, isLocked: isLockFree(course, place) };
    case "ask provider":
      return { did: step.do, outcome: providerNotesOf(course, place, session, now()) };
    case "summarise": {
      const { cache } = session;
      const outcome = isAborted
        ? { kind: "failed" as const, reasons: ["cancelled"], calls: [], cache }
        : summaryOf(course, place, session, now());
      return { did: step.do, outcome };
    }
    case "renew foundation":
      return {
        did: step.do,
        newFoundation: null,
        reasons: [],
        id: `fold-${log.compactionCount + 1}`,
      };
    case "commit": {
      const lost = commitLoss(course, place);
      if (lost === null) {
        const { compaction } = step.made.written;
        log.compaction(openTurn.id, compaction);
        count(`compacted by ${step.made.replacement.by}`);
      }
      return { did: step.do, lost };
    }
  }
}

// oxlint-disable-next-line typescript/unbound-method
function countOutcome(outcome: CompactionOutcome, { count }: Process): CompactionOutcome {
  if (outcome.kind === "unchanged") {
    count(
      outcome.isTight
        ? "compaction came to nothing, and nothing fits"
        : "compaction came to nothing",
    );
  }
  return outcome;
}
