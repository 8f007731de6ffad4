// Adds recorded bills to the accounts of their sessions, next to what the same calls would have cost.
import { noUsage } from "../core/message/usage.ts";
import { isMiss } from "./explain/explained-call.ts";
import { accountOf, countUsed, type Books } from "./books.ts";
import type { ByBytes } from "./other-bytes.ts";
import type { Placed } from "./place-in-time.ts";
import {
  addLoss,
  addPaid,
  costWhereWarm,
  lossCauseOf,
  type SessionKind,
} from "./summary/session-account.ts";
import { costOf } from "./tally.ts";

/** A call that no policy can be tried on: what it lost follows from its bill. */
export function settleBill(
  { session, request, model, startMs, explained }: Placed,
  kind: Exclude<SessionKind, "compared">,
  books: Books,
): void {
  if (kind === "automatic") countUsed(books, session, kind);
  const { usage } = request;
  if (usage === null) return;
  const account = accountOf(books, session);
  account.models.add(model.id);
  account.firstMs = Math.min(account.firstMs, startMs);
  addPaid(account, { usage, model, startMs, inputPicoUsd: costOf(usage, model, startMs) });
  if (explained === null || !isMiss(explained.explanation)) return;
  const { cause, lostPicoUsd } = explained.explanation;
  addLoss(account, explained, cause, { startMs, lostPicoUsd: lostPicoUsd ?? 0n });
}

/** Returns the cost of the call under every policy, with the bytes that the recording shows. */
export function settleComparison(
  { asShown, withBreaks, unchanged }: ByBytes,
  books: Books,
): bigint[] {
  const { comparison } = books.sums;
  const { session, request, model, startMs, explained, isFirst } = asShown.timed;
  const costs = asShown.outcomes.map(({ usage }) => costOf(usage, model, startMs));
  const account = accountOf(books, session);
  account.models.add(model.id);
  account.firstMs = Math.min(account.firstMs, startMs);
  const { usage } = request;
  if (usage === null) return costs;
  const inputPicoUsd = costOf(usage, model, startMs);
  addPaid(account, { usage, model, startMs, inputPicoUsd });
  const warmTokens = isFirst ? usage.cacheReadTokens : 0;
  const priced = (replayed: Pick<typeof asShown, "outcomes">): bigint[] =>
    replayed.outcomes.map((outcome) => costWhereWarm(outcome.usage, warmTokens, model, startMs));
  const shown = isFirst ? priced(asShown) : costs;
  const broken = withBreaks === asShown ? shown : priced(withBreaks);
  comparison.requests += 1;
  comparison.paidPicoUsd += inputPicoUsd;
  const found = foundWarm(asShown, warmTokens);
  comparison.limitPicoUsd += asShown.limits.limitPicoUsd - found;
  comparison.limitWithBreaksPicoUsd += withBreaks.limits.limitPicoUsd - found;
  for (const [index, cost] of shown.entries()) {
    comparison.shownPicoUsd[index] = (comparison.shownPicoUsd[index] ?? 0n) + cost;
    const withBreak = broken[index] ?? cost;
    comparison.brokenPicoUsd[index] = (comparison.brokenPicoUsd[index] ?? 0n) + withBreak;
  }
  const [planned] = priced(unchanged);
  if (explained === null || planned === undefined) return costs;
  const cause = lossCauseOf(explained.explanation.cause);
  addLoss(account, explained, cause, { startMs, lostPicoUsd: inputPicoUsd - planned });
  return costs;
}

/** The most that a prefix can save which another session had left: nobody has to write it before it is read. */
function foundWarm({ timed, promptTokens }: ByBytes["asShown"], warmTokens: number): bigint {
  if (warmTokens === 0) return 0n;
  const { model, startMs } = timed;
  const [shortest] = model.cache.lifetimes;
  const written =
    shortest === undefined
      ? { ...noUsage, uncachedTokens: promptTokens }
      : { ...noUsage, cacheWriteTokens: { [shortest.lifetime]: promptTokens } };
  const tokens = Math.min(warmTokens, promptTokens);
  return costOf(written, model, startMs) - costWhereWarm(written, tokens, model, startMs);
}
