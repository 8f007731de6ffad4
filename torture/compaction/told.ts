// What nodes say while they work, each line before anything else happens.

export type Told =
  | { readonly at: "ready" }
  /** About to commit something after which the session points at `head` and shows this thread. */
  | { readonly at: "try"; readonly n: number; readonly us: number; readonly tried: Tried }
  | { readonly at: "done"; readonly n: number; readonly us: number }
  /** The ledger said that somebody else was first: nothing of it may be there. */
  | { readonly at: "refused"; readonly n: number }
  | {
      readonly at: "locked";
      readonly us: number;
      readonly sessionId: string;
      readonly token: number;
      readonly isInside: boolean;
    }
  | { readonly at: "count"; readonly what: Counted }
  | { readonly at: "problem"; readonly message: string };

export interface Tried {
  readonly sessionId: string;
  readonly head: string;
  readonly digest: string;
  /** Of a fold: the lock it is committed with. */
  readonly token?: number;
}

export type Counted =
  | "turns"
  | "folds"
  | "folds inside a turn"
  | "folds in vain"
  | "locks held by others"
  | "resumed"
  | "abandoned"
  | "conflicts";

export type Tell = (told: Told) => void;

/** Microseconds of a clock that all processes of this machine share. */
export function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
