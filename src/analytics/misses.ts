// Why calls read less from the cache than they could have, and what that cost.
import {
  withLabel,
  type Analysis,
  type Found,
  type LedgerSnapshot,
  type Question,
} from "./analysis.ts";
import { parseUsdText, toUsdText } from "./figures.ts";
import {
  countField,
  eventLabel,
  groupEvents,
  readEvents,
  type StoredEvent,
} from "./stored-events.ts";

export interface MissFigures {
  readonly miss_count: number;
  readonly session_count: number;
  readonly expected_read_tokens: number;
  readonly reported_read_tokens: number;
  readonly lost_tokens: number;
  readonly lost_cost_usd: string;
  /** Misses of unknown cost: the real sum is higher. */
  readonly unpriced_miss_count: number;
}

export const misses: Analysis<MissFigures> = {
  summary: "Why calls read less from the cache than they could have, and what that cost",
  groupBys: ["cause", "model", "session", "day", "hour", "none"],
  orders: ["lost_cost_usd", "miss_count", "lost_tokens"],
  ask: askMisses,
};

async function askMisses(ledger: LedgerSnapshot, question: Question): Promise<Found<MissFigures>> {
  const events = await readEvents(ledger, question, ["cache.miss"]);
  const groups = groupEvents(events, (event) => [eventLabel(event, question.groupBy)]);
  const rows = [...groups].map(([label, group]) => {
    const losses = group.map(({ payload }) => parseUsdText(payload["lost_cost_usd"]));
    const lost = losses.reduce<bigint>((sum, each) => sum + (each ?? 0n), 0n);
    const figures: MissFigures = {
      miss_count: group.length,
      session_count: new Set(group.map(({ sessionId }) => sessionId)).size,
      expected_read_tokens: total(group, "expected_read_tokens"),
      reported_read_tokens: total(group, "reported_read_tokens"),
      lost_tokens: total(group, "lost_tokens"),
      lost_cost_usd: toUsdText(lost),
      unpriced_miss_count: losses.filter((each) => each === null).length,
    };
    const { miss_count, lost_tokens } = figures;
    return {
      label,
      figures: withLabel(question, label, figures),
      ranks: { lost_cost_usd: lost, miss_count, lost_tokens },
    };
  });
  return { rows };
}

function total(events: readonly StoredEvent[], field: string): number {
  return events.reduce((sum, event) => sum + countField(event, field), 0);
}
