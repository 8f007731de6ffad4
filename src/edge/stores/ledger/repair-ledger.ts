// Repairs what can be repaired without guessing: counts that cannot be true, sums of costs, and unreadable state.
import { fromOutcomeText } from "../../../core/ledger/call-text.ts";
import type { JsonText } from "../../../core/message/message.ts";
import { formatUsd } from "../../../core/models/pico-usd.ts";
import type { Database, ResultRow } from "../sql/database.ts";
import { integer, moneyOrNull, nameOfCall, text, textOrNull } from "../sql/read-row.ts";
import { moneyOf, moneySums, picoUsdMax } from "../sql/sums.ts";
import type { Store } from "./store.ts";
import { usageColumns } from "./turns/call-rows.ts";

/** No window is longer than ten million tokens, and no call has a hundred times as many. */
export const tokensMax = 1_000_000_000;

type Query = Database["query"];

/** In one transaction. Yields each change in words. */
export async function* repairLedger({ database }: Store): AsyncGenerator<string> {
  yield* await database.exclusive(async (query) => [
    ...(await repairCalls(query)),
    ...(await repairCosts(query)),
    ...(await repairStates(query)),
  ]);
}

const costColumns = ["cost_pico_usd", "client_cost_pico_usd", "plain_cost_pico_usd"];

export const hasAbsurdCounts: string = usageColumns
  .map((column) => `calls.${column} > ${tokensMax}`)
  .join(" OR ");

async function repairCalls(query: Query): Promise<readonly string[]> {
  const changes: string[] = [];
  for (const row of await query(`SELECT ${selectedAsText} FROM calls WHERE ${hasAbsurdCounts}`)) {
    const counts = usageColumns.flatMap((column) => {
      const count = textOrNull(row, column);
      return count === null ? [] : [`${column} ${count}`];
    });
    const cost = moneyOrNull(row, "cost_pico_usd");
    const detail = `the recorded usage cannot be true and was removed by a repair: ${counts.join(", ")}${cost === null ? "" : `, ${formatUsd(cost)}`}`;
    const outcome = withNote(row, detail);
    await query(
      `UPDATE calls SET ${[...usageColumns, ...costColumns].map((column) => `${column} = NULL`).join(", ")}, outcome_json = ? WHERE turn_id IS NOT DISTINCT FROM ? AND number = ? AND session_id = ? AND id IS NOT DISTINCT FROM ?`,
      [
        outcome,
        textOrNull(row, "turn_id"),
        integer(row, "number"),
        text(row, "session_id"),
        textOrNull(row, "id"),
      ],
    );
    changes.push(`${nameOfCall(row)}: ${detail}`);
  }
  return changes;
}

/** Counts as text: they can exceed a number. */
const selectedAsText: string = [
  "turn_id",
  "number",
  "session_id",
  "id",
  "outcome_json",
  ...[...usageColumns, "cost_pico_usd"].map((column) => `CAST(${column} AS TEXT) AS ${column}`),
].join(", ");

/** Everything else stays, also what only calls of a gateway have. */
function withNote(row: ResultRow, detail: string): JsonText {
  const outcome = fromOutcomeText(text(row, "outcome_json"));
  const note = { kind: "usage-refused", detail };
  return JSON.stringify({ ...outcome, notes: [...outcome.notes, note] });
}

export interface SessionCost {
  readonly id: string;
  /** As the row has it, which may be no whole number. */
  readonly recorded: string;
  /** The sum of its calls and compactions. */
  readonly sum: bigint;
}

/** Sessions whose cost differs from what their calls and compactions cost. */
export async function findWrongCosts(query: Query): Promise<readonly SessionCost[]> {
  const [calls, compactions] = [
    await costsBy(query, "calls"),
    await costsBy(query, "compactions_v1"),
  ];
  const rows = await query("SELECT id, CAST(cost_pico_usd AS TEXT) AS cost FROM sessions");
  return rows
    .map((row) => {
      const id = text(row, "id");
      const sum = (calls.get(id) ?? 0n) + (compactions.get(id) ?? 0n);
      return { id, recorded: String(row["cost"]), sum: sum > picoUsdMax ? picoUsdMax : sum };
    })
    .filter(({ recorded, sum }) => recorded !== String(sum));
}

async function costsBy(
  query: Query,
  table: "calls" | "compactions_v1",
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await query(
    `SELECT session_id, ${moneySums("cost_pico_usd", "cost")} FROM ${table} GROUP BY session_id`,
  );
  return new Map(rows.map((row) => [text(row, "session_id"), moneyOf(row, "cost")]));
}

async function repairCosts(query: Query): Promise<readonly string[]> {
  const changes: string[] = [];
  for (const { id, recorded, sum } of await findWrongCosts(query)) {
    await query("UPDATE sessions SET cost_pico_usd = ? WHERE id = ?", [sum, id]);
    changes.push(
      `session ${id}: its cost of ${recorded} pico-dollars is now ${formatUsd(sum)}, the sum of its calls and compactions`,
    );
  }
  return changes;
}

/** A session resumes without its state: it has to learn again what the provider's cache holds. */
async function repairStates(query: Query): Promise<readonly string[]> {
  const changes: string[] = [];
  for (const id of await findUnreadableStates(query)) {
    await query("UPDATE sessions SET state_json = NULL WHERE id = ?", [id]);
    changes.push(`session ${id}: its state was unreadable and was removed; it learns again`);
  }
  return changes;
}

export async function findUnreadableStates(query: Query): Promise<readonly string[]> {
  const rows = await query("SELECT id, state_json FROM sessions WHERE state_json IS NOT NULL");
  return rows.filter(({ state_json: json }) => !isJson(json)).map((row) => text(row, "id"));
}

function isJson(value: unknown): boolean {
  try {
    JSON.parse(String(value));
    return true;
  } catch {
    return false;
  }
}
