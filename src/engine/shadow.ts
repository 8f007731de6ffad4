// Checks that the machine of steps predicts every action of the loop. Goes when the loop goes.
import { isDeepStrictEqual } from "node:util";
import type { CallEntry } from "../core/ledger/call-entry.ts";
import { settingsOf } from "../core/session/compaction-rules.ts";
import type { Session } from "../core/session/session.ts";
import type { Section } from "../core/layers/section.ts";
import { applyResult } from "../core/turn/apply-result.ts";
import { sayMoment } from "../core/turn/call-moment.ts";
import { nextStep } from "../core/turn/next-step.ts";
import type { Input, Step } from "../core/turn/step.ts";
import type { Turn } from "../core/turn/turn.ts";
import type { Edges } from "./edges.ts";
import type { TurnFold } from "./ready-call.ts";

export interface Shadow {
  is(what: Step["do"]): boolean;
  expect<What extends Step["do"]>(what: What): Extract<Step, { readonly do: What }>;
  same(mine: unknown, theirs: unknown, what: string): void;
  apply(input: Input): void;
  refreshed(session: Session, nowMs: number, all: readonly Section[] | null, edges: Edges): void;
  compacted(fold: TurnFold): void;
  settled(entry: CallEntry): void;
  readonly turn: Turn;
}

/** Says yes to everything: for a turn that is resumed after an overflow, which the machine handles better. */
export function createBlindShadow(first: Turn): Shadow {
  return {
    turn: first,
    is: () => true,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    expect: (what) => ({ do: what }) as never,
    same: () => {},
    apply: () => {},
    refreshed: () => {},
    compacted: () => {},
    settled: () => {},
  };
}

export function createShadow(first: Turn): Shadow {
  let turn = first;
  const trail: string[] = [];
  const fail = (message: string): never => {
    throw new Error(`shadow: ${message}; so far ${trail.join(", ")}; at ${turn.at.after}`);
  };
  const same: Shadow["same"] = (mine, theirs, what) => {
    if (mine !== theirs && !isDeepStrictEqual(mine, theirs)) {
      fail(`${what}: ${show(mine)} is not ${show(theirs)}`);
    }
  };
  const apply: Shadow["apply"] = (input) => {
    turn = applyResult(turn, input);
  };
  return {
    get turn() {
      return turn;
    },
    is: (what) => nextStep(turn).do === what,
    expect: (what) => {
      const step = nextStep(turn);
      if (!isStep(step, what)) return fail(`the loop does ${what}, the machine says ${step.do}`);
      trail.push(what);
      return step;
    },
    same,
    apply,
    refreshed: (session, nowMs, all, edges) => {
      const nowIso = new Date(nowMs).toISOString();
      const moment = all === null ? null : sayMoment(turn, { nowMs, nowIso }).sections;
      same(all?.slice(0, moment?.length ?? 0) ?? null, moment, "moment");
      apply({
        did: "refresh",
        session,
        nowMs,
        nowIso,
        volatile: all?.slice(moment?.length ?? 0) ?? null,
        rules: {
          compaction: edges.compaction ?? { settings: settingsOf(undefined) },
          canCount: edges.counter !== undefined,
        },
      });
    },
    compacted: ({ turn: after, isFolded, isTight }) => {
      const { session, before, current } = after;
      trail.push("compact");
      if (isFolded) apply({ did: "compact", isCompacted: true, session, before, current });
      else apply({ did: "compact", isCompacted: false, session, isTight });
    },
    settled: (entry) => {
      const step = nextStep(turn);
      if (step.do !== "record reply") return fail(`a reply came, the machine says ${step.do}`);
      trail.push("record reply");
      same(step.entry, entry, "entry");
      apply({ did: "record reply" });
    },
  };
}

function isStep<What extends Step["do"]>(
  step: Step,
  what: What,
): step is Extract<Step, { readonly do: What }> {
  return step.do === what;
}

function show(value: unknown): string {
  return (
    JSON.stringify(value, (_key, each: unknown) =>
      typeof each === "bigint" ? String(each) : each,
    ) ?? String(value)
  ).slice(0, 400);
}
