// Compactions: what they shortened, what they cost, and how attempts ended.
import type { ResultRow } from "../edge/stores/sql/database.ts";
import { integer } from "../edge/stores/sql/read-row.ts";
import type { Analysis, Label, LedgerSnapshot, Question } from "./analysis.ts";
import { moneyOf, moneySums, parseUsdText, ratio, sumSql, toUsdText } from "./figures.ts";
import { fromCompactions, readByGroup } from "./group-keys.ts";
import {
  countBy,
  eventLabel,
  groupEvents,
  readEvents,
  textField,
  type StoredEvent,
} from "./stored-events.ts";

export interface CompactionFigures {
  readonly fold_count: number;
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
  orders: ["fold_count", "cost_usd", "tokens_before"],
  async ask(ledger, question) {
    const compacted = await readCompactions(ledger, question);
    const attempts = await readAttempts(ledger, question);
    const rows = [...new Set([...compacted.keys(), ...attempts.keys()])].map((label) => {
      const ended = attempts.get(label) ?? [];
      const { sums, costPicoUsd } = compacted.get(label) ?? {
        sums: noCompactions,
        costPicoUsd: 0n,
      };
      const failed = ended
        .filter(({ type }) => type === "compaction.failed")
        .reduce<bigint>((sum, { payload }) => sum + (parseUsdText(payload["cost_usd"]) ?? 0n), 0n);
      const figures: CompactionFigures = {
        ...sums,
        cost_usd: toUsdText(costPicoUsd),
        outcomes: countBy(ended, (event) => textField(event, "outcome")),
        failed_cost_usd: toUsdText(failed),
      };
      return { label, figures, exact: { cost_usd: costPicoUsd } };
    });
    return { rows };
  },
};

type CompactionSums = Omit<CompactionFigures, "outcomes" | "cost_usd" | "failed_cost_usd">;

const ownKeys: Readonly<Record<string, string>> = {
  trigger: "f.trigger",
  kind: "f.compaction_type",
};

interface Compactions {
  readonly sums: CompactionSums;
  readonly costPicoUsd: bigint;
}

async function readCompactions(
  ledger: LedgerSnapshot,
  question: Question,
): Promise<ReadonlyMap<Label, Compactions>> {
  const rows = await readByGroup(
    ledger,
    question,
    (
      key,
    ) => `SELECT ${ownKeys[question.groupBy] ?? key.folds} AS grp, COUNT(*) AS fold_count, ${sumSql("f.turns_summarized", "turns")}, ${sumSql("f.tokens_before", "before")},
      ${sumSql("f.tokens_after", "after")}, ${sumSql("f.summary_tokens", "summary")}, ${sumSql("f.input_tokens", "input")}, ${sumSql("f.output_tokens", "output")},
      ${sumSql("f.duration_ms", "duration")}, MAX(f.duration_ms) AS duration_max, ${moneySums("f.cost_pico_usd", "cost")}
    ${fromCompactions(key)} GROUP BY 1`,
  );
  return new Map(
    rows.map(([label, row]) => [label, { sums: toSums(row), costPicoUsd: moneyOf(row, "cost") }]),
  );
}

function toSums(row: ResultRow): CompactionSums {
  const [before, after] = [integer(row, "before"), integer(row, "after")];
  const count = integer(row, "fold_count");
  return {
    fold_count: count,
    turns_summarized: integer(row, "turns"),
    tokens_before: before,
    tokens_after: after,
    kept_share: ratio(after, before),
    summary_tokens: integer(row, "summary"),
    input_tokens: integer(row, "input"),
    output_tokens: integer(row, "output"),
    duration_ms_mean: ratio(integer(row, "duration"), count),
    duration_ms_max: integer(row, "duration_max"),
  };
}

const noCompactions: CompactionSums = {
  fold_count: 0,
  turns_summarized: 0,
  tokens_before: 0,
  tokens_after: 0,
  kept_share: null,
  summary_tokens: 0,
  input_tokens: 0,
  output_tokens: 0,
  duration_ms_mean: null,
  duration_ms_max: 0,
};

/** An attempt that did not begin has no kind and no model. */
async function readAttempts(
  ledger: LedgerSnapshot,
  question: Question,
): Promise<ReadonlyMap<Label, readonly StoredEvent[]>> {
  const { groupBy } = question;
  const events = await readEvents(ledger, question, [
    "compaction.completed",
    "compaction.failed",
    "compaction.skipped",
  ]);
  if (groupBy === "kind") return new Map();
  return groupEvents(events, (event) => [
    groupBy === "model" ? textField(event, "model") : eventLabel(event, groupBy),
  ]);
}
