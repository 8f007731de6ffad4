// What a page that is one file holds: sessions of a ledger, or a replay.
import type { ApiRoutes } from "../../api/client/answers.ts";
import type { PicturedCall } from "../picture/pictured-call.ts";

export type FileData = InspectedFile | ReplayedFile;

/** As the API answers it. */
export type InspectedSession = ApiRoutes["session_picture"]["answer"]["data"];
export type InspectedCall = ApiRoutes["call"]["answer"]["data"];

export interface InspectedFile {
  readonly kind: "inspect";
  /** The one that was asked for, then its sub-agents. */
  readonly sessions: readonly InspectedSession[];
  /** By session and call, as `SESSION/CALL`: those that have room in the file. */
  readonly details: Readonly<Record<string, InspectedCall>>;
  /** Calls before those of the first session that are shown. */
  readonly leftOutCount: number;
}

export interface ReplayedFile {
  readonly kind: "replay";
  /** What was paid, what it would have cost, and what to do. */
  readonly headline: string;
  readonly sessionCount: number;
  readonly requestCount: number;
  readonly limitUsd: number;
  /** With a cache that is kept warm; null where bills are compared. */
  readonly limitWarmUsd: number | null;
  /** What the same prompts cost as they were billed; null without bills. */
  readonly recordedUsd: number | null;
  /** Most money first. */
  readonly causes: readonly ReplayedCause[];
  /** The cheapest first; those that cost the same are one. */
  readonly policies: readonly ReplayedPolicy[];
  readonly days: readonly ReplayedDay[];
  /** Most money lost first; without bills, the dearest first. */
  readonly sessions: readonly ReplayedSession[];
  /** Sessions and calls that had no room in the file. */
  readonly leftOut: { readonly sessions: number; readonly calls: number };
  readonly notes: readonly string[];
}

export interface ReplayedCause {
  readonly what: string;
  readonly act: string;
  readonly advice: string;
  readonly lostUsd: number;
  readonly callCount: number;
  readonly tokens: number;
  /** The recording does not show it; bills and replies do. */
  readonly isInferred: boolean;
  readonly session: string;
  readonly call: number;
}

export interface ReplayedPolicy {
  readonly names: readonly string[];
  readonly usd: number;
  readonly hitRate: number;
  readonly readTokens: number;
  readonly writtenTokens: number;
  readonly freshTokens: number;
  readonly wastedTokens: number;
  readonly misses: readonly ReplayedMisses[];
}

export interface ReplayedMisses {
  readonly cause: string;
  readonly count: number;
  readonly tokens: number;
  readonly usd: number;
}

export interface ReplayedDay {
  readonly day: string;
  readonly paidUsd: number;
  readonly wouldCostUsd: number;
  readonly lostUsd: number;
}

export interface ReplayedSession {
  readonly session: string;
  readonly agent: string | null;
  readonly models: readonly string[];
  readonly callCount: number;
  readonly startMs: number;
  /** Null without a bill. */
  readonly paidUsd: number | null;
  /** With everything repaired that lost money; without a bill, under the cheapest policy. */
  readonly wouldCostUsd: number;
  readonly lostUsd: number | null;
  readonly topCause: string | null;
  /** Empty where there was no room. */
  readonly pictures: readonly ReplayedPicture[];
}

/** The same calls as they were billed, or under one policy. */
export interface ReplayedPicture {
  readonly name: string;
  readonly calls: readonly PicturedCall[];
}
