// A program under way: the model, the ledger, and every handle there ever was on a turn.
import type { Ledger, OpenTurn } from "../../../src/core/ledger/ledger.ts";
import type { StrataErrorCode } from "../../../src/core/strata-error.ts";
import type { LedgerModel, ModelSession, ModelTurn } from "./ledger-model.ts";

export interface World {
  /** Two connections to one empty store. After a crash the work goes on at the other one. */
  readonly nodes: readonly [Ledger, Ledger];
  /** Lets every lease run out. */
  readonly passLease: () => void;
}

export interface Run {
  readonly model: LedgerModel;
  ledger: Ledger;
  readonly world: World;
  readonly handles: Handle[];
  made: number;
  readonly gone: Set<string>;
}

export interface Handle {
  readonly number: number;
  readonly turn: OpenTurn;
  /** As far as this handle knows. */
  callCount: number;
}

/** Numbers choose among what there is when the step comes, so any part of a program is a program. */
export interface Choice {
  readonly session: number;
  readonly other: number;
  readonly how: number;
}

/** What the ledger is asked to do, and how that ends; the model has done it already. */
export interface Planned {
  readonly want: Outcome;
  readonly work: () => Promise<unknown>;
}

export type Outcome = "done" | StrataErrorCode;

export const nothing: Planned = { want: "done", work: () => Promise.resolve() };

/** The open turn and the handle that may write to it. */
export function heldOf(
  run: Run,
  session: ModelSession,
): { turn: ModelTurn; held: () => Handle } | null {
  const turn = session.openId === null ? undefined : run.model.turns.get(session.openId);
  const { holder } = session;
  if (turn === undefined || holder === null) return null;
  const held = (): Handle => {
    const handle = run.handles.find(({ number }) => number === holder);
    if (handle === undefined) throw new Error("the model holds a turn that was never opened");
    return handle;
  };
  return { turn, held };
}
