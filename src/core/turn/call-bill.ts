// The cost of a call and of its earlier attempts: the sum of the known costs, and a note if some are unknown.
import type { CallEntry, ReplyNote } from "../ledger/call-entry.ts";
import { findTotal } from "../models/cost.ts";
import { onServiceTier, toPricedOtherwise, type PricedOtherwise } from "../models/service-tiers.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { Reply, ReportedUsage } from "../wire/reply.ts";
import { describeUnpriced, type Spent } from "../session/summary-bill.ts";

export interface Billed {
  /** Null for a call that failed. */
  readonly reply: Reply | null;
  /** Replies of attempts that failed. */
  readonly discarded: readonly Reply[];
  readonly spent: Spent;
  readonly startMs: number;
}

export interface CallBill extends Pick<CallEntry, "costPicoUsd"> {
  readonly priced: PricedOtherwise;
  readonly notes: readonly ReplyNote[];
}

export function billReplies(
  { reply, discarded, spent, startMs }: Billed,
  model: ModelFacts,
): CallBill {
  const costs = [...(reply === null ? [] : [reply]), ...discarded].map(({ usage }) =>
    costOfReply(usage, model, startMs),
  );
  const known = [
    ...costs.filter((cost) => cost !== null),
    ...(spent.costPicoUsd === 0n ? [] : [spent.costPicoUsd]),
  ];
  const costPicoUsd = known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0n);
  const unknownCount = costs.length - costs.filter((cost) => cost !== null).length;
  // A reply without a cost already carries its own note.
  const isTold = unknownCount === 0 || (reply !== null && costPicoUsd === null);
  return {
    costPicoUsd,
    priced: reply?.usage.isReported === true ? toPricedOtherwise(reply.usage) : {},
    notes: [
      ...describeUnpriced(spent),
      ...(isTold ? [] : [describeUnknown(unknownCount)]),
      ...(reply === null ? [] : describeTier(reply.usage, model)),
    ],
  };
}

/** What the provider charges where it says so, else by our prices; null if neither is known. */
function costOfReply(usage: ReportedUsage, model: ModelFacts, at: number): bigint | null {
  if (!usage.isReported) return null;
  const { serviceTier } = usage;
  return (
    usage.costPicoUsd ?? onServiceTier(findTotal(usage.usage, model, { at }), model, serviceTier)
  );
}

/** Where it is why the cost is not known. */
function describeTier(
  { serviceTier, costPicoUsd }: ReportedUsage,
  model: ModelFacts,
): readonly ReplyNote[] {
  if (serviceTier === undefined || costPicoUsd !== undefined) return [];
  if (onServiceTier(1_000_000n, model, serviceTier) !== null) return [];
  return [{ kind: "usage", detail: `no price is known for the service tier ${serviceTier}` }];
}

function describeUnknown(count: number): ReplyNote {
  const what = count === 1 ? "1 answer that began has" : `${count} answers that began have`;
  return { kind: "usage", detail: `${what} no known cost, and may have been billed besides` };
}
