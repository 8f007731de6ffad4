// Why calls read less from the cache than they could have, and what that cost.
import type { Analysis } from "./analysis.ts";
import { parseUsdText, toUsdText } from "./figures.ts";
import { eventLabel, groupEvents, readEvents, sessionCount, sumField } from "./stored-events.ts";

export interface MissFigures {
  readonly miss_count: number;
  readonly session_count: number;
  readonly expected_read_tokens: number;
  readonly reported_read_tokens: number;
  readonly lost_tokens: number;
  readonly lost_cost_usd: string;
  /** Misses of unknown cost: the real sum is higher. */
  readonly unpriced_miss_count: number;
  /** Misses for which the provider gave a cause of its own: the same as ours, or another. */
  readonly provider_agreed_count: number;
  readonly provider_differed_count: number;
}

export const misses: Analysis<MissFigures> = {
  summary: "Why calls read less from the cache than they could have, and what that cost",
  groupBys: ["cause", "model", "session", "day", "hour", "none"],
  orders: ["lost_cost_usd", "miss_count", "lost_tokens"],
  async ask(ledger, question) {
    const events = await readEvents(ledger, question, ["cache.miss"]);
    const groups = groupEvents(events, (event) => [eventLabel(event, question.groupBy)]);
    const rows = [...groups].map(([label, group]) => {
      const losses = group.map(({ payload }) => parseUsdText(payload["lost_cost_usd"]));
      const lost = losses.reduce<bigint>((sum, each) => sum + (each ?? 0n), 0n);
      const figures: MissFigures = {
        miss_count: group.length,
        session_count: sessionCount(group),
        expected_read_tokens: sumField(group, "expected_read_tokens"),
        reported_read_tokens: sumField(group, "reported_read_tokens"),
        lost_tokens: sumField(group, "lost_tokens"),
        lost_cost_usd: toUsdText(lost),
        unpriced_miss_count: losses.filter((each) => each === null).length,
        provider_agreed_count: countOf(group, "agrees"),
        provider_differed_count: countOf(group, "differs"),
      };
      return { label, figures, exact: { lost_cost_usd: lost } };
    });
    return { rows };
  },
};

function countOf(events: Parameters<typeof sessionCount>[0], agreement: string): number {
  return events.filter(({ payload }) => payload["diagnosis_agreement"] === agreement).length;
}
