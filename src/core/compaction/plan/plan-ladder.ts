// What to give up, cheapest first, until the prompt is as small as it should be: memory, old results, the head of the history.
import type { Message } from "../../message/message.ts";
import type { HistoryMessage } from "../history.ts";
import { findBoundary, type Boundary, type BoundaryWish } from "./find-boundary.ts";
import { planClearing, type ClearingPlan } from "./plan-clearing.ts";
import type { ClearingSettings } from "./settings.ts";
import type { TellHow } from "./tell-how.ts";

export type LadderStep = {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
} & (
  | { readonly kind: "drop memory" }
  | { readonly kind: "clear results"; readonly clearing: ClearingPlan }
  | { readonly kind: "summarise head"; readonly boundary: Boundary }
  /** The provider shortens the same head. */
  | { readonly kind: "provider side"; readonly boundary: Boundary }
);

export interface LadderPlan {
  /** In this order; empty where nothing is to be given up. */
  readonly steps: readonly LadderStep[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly targetTokens: number;
  /** "not enough" gives up all it may and is still above the target. */
  readonly outcome: "not needed" | "enough" | "not enough";
}

export interface LadderNeed {
  /** Of the whole prompt. */
  readonly usedTokens: number;
  readonly targetTokens: number;
  /** Memory that is injected into the prompt; 0 where none is, or where it must stay. */
  readonly memoryTokens: number;
  readonly boundary: BoundaryWish;
  /** Null where nothing may be cleared. */
  readonly clearing: ClearingSettings | null;
  /** What a summary and its index will take. */
  readonly foldTokens: number;
  readonly mayUseProvider: boolean;
  /** Someone asked for a summary: then it does not end with less. */
  readonly mustSummarise: boolean;
  readonly countMessage: (message: Message) => number;
  readonly tellHow?: TellHow;
}

export function planLadder(history: readonly HistoryMessage[], need: LadderNeed): LadderPlan {
  const steps: LadderStep[] = [];
  let tokens = need.usedTokens;
  const isSmall = (): boolean => tokens <= need.targetTokens;
  const isDone = (): boolean => isSmall() && !need.mustSummarise;
  const take = (step: LadderStep): void => {
    steps.push(step);
    tokens = step.tokensAfter;
  };
  const boundary = isDone() ? null : findBoundary(history, need.boundary);
  if (!isSmall() && need.memoryTokens > 0) {
    const tokensAfter = tokens - need.memoryTokens;
    take({ kind: "drop memory", tokensBefore: tokens, tokensAfter });
  }
  const clearing = isDone() || need.mustSummarise ? null : clearBefore(history, boundary, need);
  if (clearing !== null) {
    const tokensAfter = tokens - clearing.savedTokens;
    // Where a summary follows, it stands for what would have been cleared.
    if (tokensAfter <= need.targetTokens || boundary === null) {
      take({ kind: "clear results", clearing, tokensBefore: tokens, tokensAfter });
    }
  }
  if (!isDone() && boundary !== null) {
    const freed = boundary.foldedTokens - boundary.repeatedTokens - need.foldTokens;
    const kind = need.mayUseProvider ? "provider side" : "summarise head";
    if (freed > 0) take({ kind, boundary, tokensBefore: tokens, tokensAfter: tokens - freed });
  }
  return {
    steps,
    tokensBefore: need.usedTokens,
    tokensAfter: tokens,
    targetTokens: need.targetTokens,
    outcome: !isSmall() ? "not enough" : steps.length === 0 ? "not needed" : "enough",
  };
}

/** What is kept of the history is not touched; without a boundary only the last turn is. */
function clearBefore(
  history: readonly HistoryMessage[],
  boundary: Boundary | null,
  { clearing, usedTokens, countMessage, tellHow }: LadderNeed,
): ClearingPlan | null {
  if (clearing === null) return null;
  const lastTurnId = history.at(-1)?.turnId;
  const lastTurn = history.findIndex(({ turnId }) => turnId === lastTurnId);
  return planClearing(history, {
    settings: clearing,
    protectedFrom: boundary?.at ?? Math.max(0, lastTurn),
    contextTokens: usedTokens,
    countMessage,
    ...(tellHow === undefined ? {} : { tellHow }),
  });
}
