// Why calls read less from the cache than they could have, where their prompts broke, and what that cost.
import type { Analysis } from "./analysis.ts";
import { parseUsdText, toUsdText } from "./figures.ts";
import * as stored from "./stored-events.ts";

export interface MissFigures {
  readonly miss_count: number;
  readonly session_count: number;
  readonly expected_read_tokens: number;
  readonly reported_read_tokens: number;
  readonly lost_tokens: number;
  readonly lost_cost_usd: string;
  /** Misses of unknown cost: the real sum is higher. */
  readonly unpriced_miss_count: number;
  /** How often each cause. */
  readonly causes: Readonly<Record<string, number>>;
  /** How often each section of the prompt: the first that differs, or the last that was not read. */
  readonly sections: Readonly<Record<string, number>>;
  /** The miss that lost most tokens. */
  readonly costliest_cause: string | null;
  readonly costliest_detail: string | null;
  /** Section, tier and number of its block. */
  readonly costliest_block: string | null;
  /** The first byte of the block that differs. */
  readonly costliest_byte: number | null;
  readonly costliest_session: string;
  readonly costliest_turn: string | null;
  /** Misses for which the provider gave a cause of its own: the same as ours, or another. */
  readonly provider_agreed_count: number;
  readonly provider_differed_count: number;
}

export const misses: Analysis<MissFigures> = {
  summary: "Why calls read less from the cache than they could have, where, and what that cost",
  groupBys: ["cause", "section", "tier", "model", "session", "turn", "day", "hour", "none"],
  orders: ["lost_cost_usd", "miss_count", "lost_tokens"],
  isForKeys: true,
  async ask(ledger, question) {
    const events = await stored.readEvents(ledger, question, ["cache.miss"]);
    const groups = stored.groupEvents(events, (event) => [
      stored.eventLabel(event, fields[question.groupBy] ?? question.groupBy),
    ]);
    const rows = [...groups].map(([label, group]) => {
      const losses = group.map(({ payload }) => parseUsdText(payload["lost_cost_usd"]));
      const lost = losses.reduce<bigint>((sum, each) => sum + (each ?? 0n), 0n);
      const figures: MissFigures = {
        miss_count: group.length,
        session_count: stored.sessionCount(group),
        expected_read_tokens: stored.sumField(group, "expected_read_tokens"),
        reported_read_tokens: stored.sumField(group, "reported_read_tokens"),
        lost_tokens: stored.sumField(group, "lost_tokens"),
        lost_cost_usd: toUsdText(lost),
        unpriced_miss_count: losses.filter((each) => each === null).length,
        causes: stored.countBy(group, (event) => stored.textField(event, "cause")),
        sections: stored.countBy(group, (event) => stored.textField(event, "block_label")),
        ...toCostliest(group),
        provider_agreed_count: countOf(group, "agrees"),
        provider_differed_count: countOf(group, "differs"),
      };
      return { label, figures, exact: { lost_cost_usd: lost } };
    });
    return { rows };
  },
};

/** Groups with another name than their field. */
const fields: Readonly<Record<string, string>> = { section: "block_label", tier: "block_tier" };

type Costliest = Pick<MissFigures, Extract<keyof MissFigures, `costliest_${string}`>>;

/** The first of equal ones by time. */
function toCostliest(group: readonly stored.StoredEvent[]): Costliest {
  const [first] = group.toSorted(
    (left, right) => lostIn(right) - lostIn(left) || left.timeMs - right.timeMs,
  );
  return {
    costliest_cause: first === undefined ? null : stored.textField(first, "cause"),
    costliest_detail: first === undefined ? null : stored.textField(first, "detail"),
    costliest_block: first === undefined ? null : toBlock(first),
    costliest_byte: first === undefined ? null : stored.numberField(first, "block_byte_offset"),
    costliest_session: first?.sessionId ?? "",
    costliest_turn: first?.turnId ?? null,
  };
}

function lostIn(event: stored.StoredEvent): number {
  return stored.numberField(event, "lost_tokens") ?? 0;
}

function toBlock(event: stored.StoredEvent): string | null {
  const index = stored.numberField(event, "block_index");
  const section = stored.textField(event, "block_label");
  if (index === null || section === null) return null;
  return `${section} (${stored.textField(event, "block_tier") ?? "?"}, block ${index + 1})`;
}

function countOf(events: Parameters<typeof stored.sessionCount>[0], agreement: string): number {
  return events.filter(({ payload }) => payload["diagnosis_agreement"] === agreement).length;
}
