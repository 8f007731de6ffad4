// What the run and its worker processes say to each other.
import type { Fault } from "./door.ts";

/** The argument of a worker process. */
export interface WorkerTask {
  /** A module that exports `doors`. */
  readonly module: string;
  readonly seed: number;
  /** The worker's own folder. */
  readonly base: string;
  /** Holds the number of the input that runs, in eight bytes; -1 while a door is opened. */
  readonly stateFile: string;
}

export interface Chunk {
  readonly door: string;
  readonly from: number;
  /** After the last. */
  readonly to: number;
  /** Inputs that hung before. */
  readonly skip: readonly number[];
}

export type WorkerMessage =
  | { readonly type: "ready" }
  | { readonly type: "fault"; readonly fault: Fault }
  | ({ readonly type: "done" } & ChunkTally);

export interface ChunkTally {
  readonly inputs: number;
  readonly accepted: number;
  readonly refused: number;
  readonly slowestMs: number;
  /** Inputs that took more than a second. */
  readonly slow: readonly number[];
}

/** More than this is a hang. */
export const hangMs = 1000;
