// Compactions: what they shortened, what they cost, and how attempts ended.
import type { Analysis, Label, LedgerSnapshot, Question } from "./analysis.ts";
import { turnFacts } from "../edge/stores/rollups/turn-facts.ts";
import { moneyOf } from "../edge/stores/sql/sums.ts";
import { countOf, parseUsdText, ratio, toUsdText } from "./figures.ts";
import { readSums, type SumsWanted } from "./read-sums.ts";
import * as stored from "./stored-events.ts";

export interface CompactionFigures {
  readonly compaction_count: number;
  readonly turns_summarized: number;
  readonly tokens_before: number;
  readonly tokens_after: number;
  /** After ÷ before. */
  readonly kept_share: number | null;
  readonly summary_tokens: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: string;
  readonly duration_ms_mean: number | null;
  readonly duration_ms_max: number;
  /** Attempts by outcome, including failed and skipped ones; from events. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Cost of failed attempts. The ledger books it with the next call. */
  readonly failed_cost_usd: string;
}

export const compactions: Analysis<CompactionFigures> = {
  summary: "What compactions shortened and cost, and how attempts ended",
  groupBys: ["trigger", "kind", "model", "session", "day", "none"],
  orders: ["compaction_count", "cost_usd", "tokens_before"],
  async ask(ledger, question) {
    const compacted = new Map(await readSums(ledger, question, compactionSums));
    const attempts = await readAttempts(ledger, question);
    const rows = [...new Set([...compacted.keys(), ...attempts.keys()])].map((label) => {
      const row = compacted.get(label);
      const ended = attempts.get(label) ?? [];
      const failed = ended
        .filter(({ type }) => type === "compaction.failed")
        .reduce<bigint>((sum, { payload }) => sum + (parseUsdText(payload["cost_usd"]) ?? 0n), 0n);
      const [before, after] = [countOf(row, "before"), countOf(row, "after")];
      const figures: CompactionFigures = {
        compaction_count: countOf(row, "compaction_count"),
        turns_summarized: countOf(row, "turns"),
        tokens_before: before,
        tokens_after: after,
        kept_share: ratio(after, before),
        summary_tokens: countOf(row, "summary"),
        input_tokens: countOf(row, "input"),
        output_tokens: countOf(row, "output"),
        duration_ms_mean: ratio(countOf(row, "duration"), countOf(row, "compaction_count")),
        duration_ms_max: countOf(row, "duration_max"),
        cost_usd: toUsdText(moneyOf(row, "cost")),
        outcomes: stored.countBy(ended, (event) => stored.textField(event, "outcome")),
        failed_cost_usd: toUsdText(failed),
      };
      return { label, figures, exact: { cost_usd: moneyOf(row, "cost") } };
    });
    return { rows };
  },
};

const compactionSums: SumsWanted = {
  fact: turnFacts.compactions,
  columns: [
    "compaction_count",
    "turns",
    "before",
    "after",
    "summary",
    "input",
    "output",
    "duration",
    "duration_max",
    "cost_0",
    "cost_1",
  ],
};

/** An attempt that did not begin has no kind and no model. */
async function readAttempts(
  ledger: LedgerSnapshot,
  question: Question,
): Promise<ReadonlyMap<Label, readonly stored.StoredEvent[]>> {
  const { groupBy } = question;
  const events = await stored.readEvents(ledger, question, [
    "compaction.completed",
    "compaction.failed",
    "compaction.skipped",
  ]);
  if (groupBy === "kind") return new Map();
  return stored.groupEvents(events, (event) => [
    groupBy === "model" ? stored.textField(event, "model") : stored.eventLabel(event, groupBy),
  ]);
}
