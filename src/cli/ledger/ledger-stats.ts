// strata ledger stats: how much there is, what it cost, and since when.
import type { LedgerStats } from "../../core/ledger/ledger.ts";
import { formatCost } from "../format-cost.ts";
import { formatNumber } from "../../replay/format-figures.ts";
import type { CommandBody } from "../command.ts";
import { formatBytes, formatTime, printResult } from "./render-ledger.ts";
import { renderTable, type Column } from "../table.ts";
import type { LedgerPlace } from "../../host/ledger/ledger-place.ts";
import { useLedger } from "../use-ledger.ts";

export const run: CommandBody = (input, io) =>
  useLedger(input, io, async ({ ledger }, place) => {
    const stats = await ledger.stats();
    return printResult(input, io, {
      value: { place: place.name, origin: place.origin, ...stats },
      text: render(stats, place),
    });
  });

function render(stats: LedgerStats, { name, origin }: LedgerPlace): string {
  const { oldestMs, newestMs } = stats;
  const span =
    oldestMs === null || newestMs === null
      ? "no call yet"
      : `calls from ${formatTime(oldestMs)} to ${formatTime(newestMs)} UTC`;
  const rows = Object.entries(stats.rows);
  return [
    `${name} (${stats.store}, schema ${stats.schema}, from ${origin})\n`,
    `${formatBytes(stats.bytes)}, ${span}, ${formatCost(stats.costPicoUsd, stats.unpricedCallCount)}\n\n`,
    renderTable(columns, rows),
  ].join("");
}

const columns: readonly Column<readonly [string, number]>[] = [
  { title: "table", cell: ([table]) => table },
  { title: "rows", align: "right", cell: ([, count]) => formatNumber(count) },
];
