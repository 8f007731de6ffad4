// Events that nodes report while they work.

export type NodeEvent =
  | { readonly at: "ready" }
  /** About to commit something after which the session points at `head` and shows this thread. */
  | { readonly at: "try"; readonly n: number; readonly us: number; readonly tried: Tried }
  | { readonly at: "done"; readonly n: number; readonly us: number }
  /** The ledger refused because of a conflict: nothing of the commit may exist. */
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
  /** For a compaction: the token of its lock. */
  readonly token?: number;
}

export type Counted =
  | "turns"
  | "folds"
  | "folds inside a turn"
  | "folds without result"
  | "locks held by others"
  | "resumed"
  | "abandoned"
  | "conflicts";

export type Report = (event: NodeEvent) => void;
