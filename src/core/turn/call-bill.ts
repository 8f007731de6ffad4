// The cost of a call and of its earlier attempts: the sum of the known costs, and a note if some are unknown.
import type { CallEntry, ReplyNote } from "../ledger/call-entry.ts";
import { findTotal } from "../models/cost.ts";
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

export type CallBill = Pick<CallEntry, "costPicoUsd"> & { readonly notes: readonly ReplyNote[] };

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
    notes: [...describeUnpriced(spent), ...(isTold ? [] : [describeUnknown(unknownCount)])],
  };
}

/** What the provider charges where it says so, else by our prices; null if neither is known. */
function costOfReply(usage: ReportedUsage, model: ModelFacts, at: number): bigint | null {
  if (!usage.isReported) return null;
  return usage.costPicoUsd ?? findTotal(usage.usage, model, { at });
}

function describeUnknown(count: number): ReplyNote {
  const what = count === 1 ? "1 answer that began has" : `${count} answers that began have`;
  return { kind: "usage", detail: `${what} no known cost, and may have been billed besides` };
}
