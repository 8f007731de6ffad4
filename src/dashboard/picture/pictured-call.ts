// What the cross-section knows of one call. Positions are tokens from the first one of the prompt.
import type { Tier } from "../../core/tokens/budget.ts";

export interface PicturedCall {
  readonly number: number;
  readonly startMs: number;
  readonly model: string;
  /** How much of the prompt is as in the call before. */
  readonly keptTokens: number;
  /** What follows that, first to last. */
  readonly added: readonly AddedPiece[];
  readonly readTokens: number;
  /** In the order of the prompt: the longest lifetime first. */
  readonly written: readonly WrittenTokens[];
  readonly outputTokens: number;
  readonly markers: readonly PicturedMarker[];
  readonly miss: PicturedMiss | null;
  /** Whether the history was shortened before this call. */
  readonly isCompacted: boolean;
  /** Null where the price is unknown. */
  readonly dollars: PicturedDollars | null;
  /** What it would have cost without a cache; null where the price is unknown. */
  readonly plainDollars: number | null;
  /** What the policy that the session is compared with would have paid; null without an account. */
  readonly comparedDollars: number | null;
}

export interface AddedPiece {
  readonly tier: Tier;
  /** For people, such as `tool Bash`. */
  readonly section: string;
  readonly tokens: number;
  /** The number of the call that first brought it: an earlier one where it was sent again. */
  readonly since: number;
}

export interface WrittenTokens {
  readonly lifetime: string;
  readonly tokens: number;
}

export interface PicturedMarker {
  readonly atTokens: number;
  readonly lifetime: string;
  /** Empty if the client placed it. */
  readonly reason: string;
}

export interface PicturedMiss {
  readonly cause: string;
  /** Where the prompt differs or was not read any more. */
  readonly atTokens: number;
  readonly lostTokens: number;
  /** Null if the model has no price. */
  readonly lostDollars: number | null;
  readonly block: string | null;
  readonly byte: number | null;
  readonly advice: string;
  /** The first words that were not read; only where excerpts were asked for. */
  readonly excerpt?: string;
}

/** By bucket of the bill. */
export interface PicturedDollars {
  readonly read: number;
  readonly written: number;
  readonly fresh: number;
  readonly output: number;
}

export function promptTokensOf({ keptTokens, added }: PicturedCall): number {
  return added.reduce((sum, { tokens }) => sum + tokens, keptTokens);
}
