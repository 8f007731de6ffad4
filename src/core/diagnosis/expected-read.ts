// How much of the repeated prompt the cache could have served.
import { toleranceShare } from "../cache/cache-state.ts";
import { branchesOff, isEdited, type TextOfHash } from "./find-divergence.ts";
import type { KeptPrefix } from "./reported-tokens.ts";
import {
  isAsSimulated,
  stepOf,
  toleranceOf,
  type Comparison,
  type SimulatedRead,
} from "./read-ladder.ts";

export interface ExpectedRead {
  readonly tokens: number;
  /** Differences up to this mean nothing. */
  readonly toleranceTokens: number;
}

export interface ReadQuestion extends Comparison {
  readonly kept: KeptPrefix;
  readonly textBefore: TextOfHash;
  /** What this request reads by the rules. */
  readonly simulated: SimulatedRead;
}

/** The tolerance for the provider's own counts. */
const exactTolerance = 8;

export function expectedRead(question: ReadQuestion): ExpectedRead {
  const { before, kept, view, rules, shared, reported, simulated } = question;
  const step = stepOf(rules);
  if (shared > kept.block && before.model === view.model) {
    const toleranceTokens = kept.isExact ? exactTolerance + step : toleranceOf(kept.tokens, rules);
    return { tokens: kept.tokens, toleranceTokens };
  }
  const tokens = sentAgain(question);
  if (!isAsSimulated(reported, simulated, rules)) {
    const most = Math.min(kept.tokens, tokens);
    return { tokens: most, toleranceTokens: toleranceOf(most, rules) };
  }
  // The reply gives the exact tokens up to a known block; only the rest is estimated.
  const known = tokens - branchTokens(question) - question.ruler(simulated.block);
  const rest = Math.max(0, known);
  const most = Math.max(reported, Math.min(kept.tokens, reported + rest));
  return { tokens: most, toleranceTokens: exactTolerance + rest * toleranceShare + step };
}

/** Fewer tokens are not worth a marker. */
const branchTokensMin = 1024;

/** Tokens before a branch without a marker. Clients do not mark every place, so a few tokens are no loss. */
function branchTokens({ before, view, shared, rules, ruler, textBefore }: ReadQuestion): number {
  const { blocks } = view;
  const isBranch = branchesOff(before.blocks, blocks, shared);
  if (!isBranch || isEdited(before.blocks[shared], blocks[shared], textBefore)) return 0;
  const marked = before.entries.reduce(
    (last, { block, contentKey }) =>
      block > last && blocks[block]?.contentKey === contentKey ? block : last,
    -1,
  );
  const unmarked = ruler(shared - 1) - ruler(marked);
  return unmarked < Math.max(branchTokensMin, rules.cache.minimumTokens ?? 0) ? unmarked : 0;
}

/** The shared part, the edited block, and everything after it that was sent before. New text is no loss. */
function sentAgain({ before, kept, view, shared, ruler, textBefore }: ReadQuestion): number {
  const known = new Set(before.blocks.slice(0, kept.block + 1).map(({ hash }) => hash));
  const { blocks } = view;
  const tokensOf = (index: number): number => ruler(index) - ruler(index - 1);
  let tokens = ruler(shared - 1);
  let isGoingOn = false;
  for (let index = shared; index < blocks.length; index += 1) {
    const block = blocks[index];
    if (known.has(block?.hash ?? "")) tokens += tokensOf(index);
    isGoingOn ||= block?.role === "assistant";
  }
  const old = before.blocks[shared];
  const now = blocks[shared];
  if (now === undefined || old === undefined || known.has(now.hash)) return tokens;
  // In a history without a later reply, a different block begins another conversation.
  const isReplaced =
    (isGoingOn || now.tier !== "T3") && old.role === now.role && old.kind === now.kind;
  if (!isReplaced && !isEdited(old, now, textBefore)) return tokens;
  const share = Math.min(1, old.tokens / Math.max(1, now.tokens));
  return tokens + Math.round(tokensOf(shared) * share);
}
