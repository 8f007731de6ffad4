// The details of one replayed call, for cross-sections and miss explanations.
import type { MissCause } from "../core/diagnosis/explanation.ts";
import type { Usage } from "../core/message/usage.ts";
import type { Miss } from "./misses.ts";

export interface CallDetail {
  readonly sessionId: string;
  readonly file: string;
  /** Empty for the main thread. */
  readonly thread: string;
  readonly startMs: number;
  readonly model: string;
  /** Tokens of the prompt by tier, in wire order. */
  readonly tierTokens: Readonly<Record<"T0" | "T1" | "T2" | "T3", number>>;
  /** In the order of the policies. */
  readonly outcomes: readonly { readonly usage: Usage; readonly miss: Miss | null }[];
  /** The recorded usage, or null. */
  readonly recorded: Usage | null;
  /** Why the recorded call read less than it could have, or "no miss"; null without a bill. */
  readonly recordedCause: MissCause | null;
  readonly limitPicoUsd: bigint;
}
