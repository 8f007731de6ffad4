// What the bill or the refusal of a call teaches about sizes. Compares only what no earlier bill covered.
import type { Assembly } from "../assembly/assemble.ts";
import { countsAs } from "../cache/cache-state.ts";
import { promptTokens } from "../message/usage.ts";
import type { Session } from "../session/session.ts";
import { learnFromBill, learnFromOverflow, type LearnedSizes } from "../tokens/learned-sizes.ts";
import type { ProviderFailure } from "../wire/failure.ts";
import type { Reply } from "../wire/reply.ts";

/** The sent prompt. */
interface Sent {
  readonly assembly: Pick<Assembly, "blocks">;
}

export function sizesAfterReply(session: Session, sent: Sent, { usage }: Reply): LearnedSizes {
  const { sizes } = session;
  if (!usage.isReported) return sizes;
  const { knownTokens, estimatedTokens } = estimateOf(session, sent);
  const billedTokens = promptTokens(usage.usage) - knownTokens;
  return learnFromBill(sizes, { estimatedTokens, billedTokens });
}

export function sizesAfterFailure(
  session: Session,
  sent: Sent,
  failure: ProviderFailure,
): LearnedSizes {
  const { sizes, model } = session;
  if (failure.kind !== "context-overflow") return sizes;
  const { knownTokens, estimatedTokens } = estimateOf(session, sent);
  const { tokens, tokensMax } = failure;
  return learnFromOverflow(sizes, {
    estimatedTokens,
    countedTokens: tokens === undefined ? null : tokens - knownTokens,
    promptTokensMax: tokensMax ?? null,
    knownTokensMax: Math.min(model.windowTokens, model.inputTokensMax),
    acceptedTokens: session.cache.measured?.tokens ?? 0,
  });
}

/** The part of the prompt that the last bill covers, and our estimate of the rest. */
function estimateOf({ cache }: Session, { assembly: { blocks } }: Sent) {
  const known = countsAs(cache.measured, blocks);
  const endOf = (block: number): number => blocks.at(block)?.endTokens ?? 0;
  const total = blocks.length === 0 ? 0 : endOf(blocks.length - 1);
  return {
    knownTokens: known?.tokens ?? 0,
    estimatedTokens: total - (known === null ? 0 : endOf(known.block)),
  };
}
