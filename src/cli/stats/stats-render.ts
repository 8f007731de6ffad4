// An answer of the ledger as text: a table of the figures people look at; --json has all of them.
import type { AnalysisName } from "../../analytics/analysis-names.ts";
import { parseUsdText } from "../../analytics/figures.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import type { Answer } from "../../analytics/ask-ledger.ts";
import {
  formatCount,
  formatNumber,
  formatPercent,
  formatTokens,
} from "../../replay/format-figures.ts";
import { toShort } from "../ledger/render-ledger.ts";
import { renderTable, type Column } from "../table.ts";
import { wrapLong } from "../window.ts";

export function renderAnswer(name: AnalysisName, answer: Answer): string {
  const { window, data, left_out_count: leftOut, notes } = answer;
  const rows = data.map(flatten);
  const about = `${toMinutes(window.start)} to ${toMinutes(window.end)} UTC, prices of ${answer.current_pricing_version}`;
  const calls = name === "turns" ? (data.length === 1 ? callsOf(data[0]) : []) : [];
  return [
    rows.length === 0 ? "Nothing in this window.\n" : renderTable(columnsOf(name, rows), rows),
    calls.length === 0 ? "" : `\n${renderTable(toColumns(callColumns), calls.map(flatten))}`,
    wrapLong(`\n${about}\n`),
    leftOut === 0 ? "" : `${formatCount(leftOut, "more row")}; --limit shows more.\n`,
    ...notes.map((note) => wrapLong(`Note: ${note}.\n`)),
  ].join("");
}

type Flat = Readonly<Record<string, unknown>>;

/** `no_cache.saved_usd` and the like; lists are left out. */
function flatten(row: object): Flat {
  const flat: Record<string, unknown> = {};
  const entries: readonly (readonly [string, unknown])[] = Object.entries(row);
  for (const [name, value] of entries) {
    const isComparison = typeof value === "object" && value !== null && "saved_usd" in value;
    if (!isComparison) flat[name] = value;
    else for (const [inner, each] of Object.entries(value)) flat[`${name}.${inner}`] = each;
  }
  return flat;
}

function callsOf(row: object | undefined): readonly object[] {
  if (row === undefined || !("calls" in row) || !Array.isArray(row.calls)) return [];
  return row.calls.filter((call): call is object => typeof call === "object" && call !== null);
}

const tokens = "uncached_input_tokens cached_input_tokens cache_creation_tokens";

/** The columns after the group; columns without a value are left out. */
const shown: Readonly<Record<AnalysisName, string>> = {
  cache_effectiveness: `call_count ${tokens} hit_rate coverage cache_write_share rewrite_factor`,
  cost: `call_count ${tokens} output_tokens hit_rate summary_cost_usd warm_cost_usd failed_cost_usd cost_usd unpriced_call_count`,
  savings:
    "call_count no_cache.actual_cost_usd no_cache.cost_usd no_cache.saved_usd no_cache.saved_share no_cache.unpriced_call_count baseline.model baseline.cost_usd baseline.saved_usd baseline.saved_share baseline.unpriced_call_count arms.strata_conversation_count arms.strata_cost_share arms.holdout_conversation_count arms.holdout_cost_share arms.saved_share arms.claim",
  sessions:
    "agent model status turn_count call_count hit_rate cost_usd unpriced_call_count last_call_at",
  turns:
    "session status in_flight model started_at duration_ms call_count tool_use_count hit_rate cost_usd unpriced_call_count",
  reliability:
    "call_count failed_call_count partial_call_count failure_rate latency_ms_p50 latency_ms_p95 turn_count failed_turn_count open_turn_count tool_use_count failed_tool_use_count failures",
  routing: "turn_count switched_turn_count decided_by",
  skills:
    "load_count loaded_tokens session_count search_count preload_count asked_preload_share last_loaded_at load_reasons",
  misses:
    "miss_count session_count lost_tokens lost_cost_usd unpriced_miss_count provider_agreed_count provider_differed_count causes sections costliest_block costliest_byte costliest_detail",
  compactions:
    "compaction_count turns_summarized tokens_before tokens_after kept_share cost_usd failed_cost_usd duration_ms_mean outcomes",
};

const callColumns = `number status failure model latency_ms ${tokens} output_tokens hit_rate discarded_count cost_usd`;

function columnsOf(name: AnalysisName, rows: readonly Flat[]): readonly Column<Flat>[] {
  const first = Object.keys(rows[0] ?? {})[0] ?? "";
  const wanted = shown[name].split(" ");
  const label = wanted.includes(first) ? [] : [first];
  const used = wanted.filter((column) => rows.some((row) => isShown(column, row[column])));
  return toColumns([...label, ...used].join(" "));
}

function isShown(column: string, value: unknown): boolean {
  if (value === null || value === undefined) return false;
  // Shown only if not zero: they explain gaps in the other figures.
  if (column.includes("unpriced") || column.startsWith("provider_")) return value !== 0;
  if (column === "open_turn_count") return value !== 0;
  if (column === "warm_cost_usd") return Number(value) !== 0;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

function toColumns(names: string): readonly Column<Flat>[] {
  return names.split(" ").map((name) => ({
    title: titleOf(name),
    cell: (row) => toCellOf(name, row),
    ...(isNumber(name) ? { align: "right" as const } : {}),
  }));
}

/** A sum that leaves out calls of unknown price is at least so much, and nothing known is not $0. */
function toCellOf(name: string, row: Flat): string {
  const cell = toCell(name, row[name]);
  const unpriced = row[unpricedOf[name] ?? ""];
  if (typeof unpriced !== "number" || unpriced === 0) return cell;
  return Number(row[name]) === 0 ? "unknown" : `≥ ${cell}`;
}

/** By a sum of money: the count of what it leaves out. */
const unpricedOf: Readonly<Record<string, string>> = {
  cost_usd: "unpriced_call_count",
  lost_cost_usd: "unpriced_miss_count",
};

/** Without the unit, which is in the cells. */
function titleOf(name: string): string {
  return name
    .replace("no_cache.actual_", "")
    .replace("miss_count", "misses")
    .replace(/_count$/, "s")
    .replace(/_(?:usd|tokens|ms|at)$/, "")
    .replace("_ms_", " ")
    .replaceAll(/[._]/g, " ");
}

const figures =
  /_(?:count|tokens|usd|rate|share|factor|ms|p50|p95|mean|before|after|summarized|byte)$|^number$|^coverage$|^tokens_/;

function isNumber(name: string): boolean {
  return figures.test(name);
}

function toCell(name: string, value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") {
    return Object.entries(value)
      .map(([what, count]) => `${what} ${String(count)}`)
      .join(", ");
  }
  if (typeof value === "number") return toFigure(name, value);
  if (typeof value !== "string") return "-";
  if (name.endsWith("_usd")) return toDollars(value);
  return name.endsWith("_at") ? toMinutes(value) : toShort(value, 48);
}

function toFigure(name: string, value: number): string {
  if (/(?:_rate|_share|^coverage)$/.test(name)) return formatPercent(value);
  if (name.endsWith("_factor")) return value.toFixed(2);
  if (name.includes("_ms")) return `${(value / 1000).toFixed(1)} s`;
  return /tokens/.test(name) ? formatTokens(value) : formatNumber(value);
}

/** As everywhere for people; the further digits are for machines. */
function toDollars(text: string): string {
  return formatUsdRounded(parseUsdText(text) ?? 0n);
}

function toMinutes(iso: string): string {
  return iso.slice(0, 16).replace("T", " ");
}
