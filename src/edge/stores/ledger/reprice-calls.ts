// Prices recorded calls again, after a price was corrected. Costs of their sessions follow, and stored sums are marked by the rows.
import { fieldsOf, textIn } from "../../../core/message/fields.ts";
import type { Repriced, RepriceOptions } from "../../../core/ledger/ledger.ts";
import type { Guard, ResultRow } from "../sql/database.ts";
import { integer, moneyOrNull, readAs, text, textOrNull } from "../sql/read-row.ts";
import { selected, type Value } from "../sql/tables.ts";
import type { Store } from "./store.ts";
import { toUsage } from "./turns/call-rows.ts";

const callsPerPage = 500;
/** Each commit is whole: killed in the middle, the rest is priced by the next run. */
const callsPerCommit = 100;

/** Only calls whose cost is that of their usage: an attempt that was discarded, or what keeping a prefix costs, has a price of its own. */
const isOfUsage = `c.uncached_tokens IS NOT NULL AND c.kind <> 'stored' AND SUBSTR(c.outcome_json, 1, 15) <> '{"discarded":[{'`;

export async function repriceCalls(
  store: Store,
  { fromMs, toMs, priceOf, mayNameCosts = () => false, isDry = false }: RepriceOptions,
): Promise<Repriced> {
  let [seen, changed, skipped, named] = [0, 0, 0, 0];
  let differencePicoUsd = 0n;
  const [left] = await store.database.query(
    `SELECT COUNT(*) AS calls FROM calls c WHERE c.started_ms >= ? AND c.started_ms < ? AND c.uncached_tokens IS NOT NULL AND NOT (${isOfUsage})`,
    [fromMs, toMs],
  );
  for await (const rows of pagesOf(store, fromMs, toMs)) {
    const changes: Change[] = [];
    for (const row of rows) {
      const { serviceTier, isCostNamed } = readAs(row, "outcome_json", readPricing);
      if (isCostNamed || routeOf(row).some(mayNameCosts)) {
        named += 1;
        continue;
      }
      seen += 1;
      const cost = moneyOrNull(row, "cost_pico_usd");
      const call = {
        model: text(row, "model"),
        usage: toUsage(row),
        startMs: integer(row, "started_ms"),
        serviceTier,
      };
      const price = priceOf(call);
      if (price === null) skipped += 1;
      else if (price !== cost) changes.push({ row, cost, price });
    }
    for (let at = 0; at < changes.length; at += callsPerCommit) {
      const part = changes.slice(at, at + callsPerCommit);
      const done = isDry ? part : await change(store, part);
      changed += done.length;
      for (const { cost, price } of done) differencePicoUsd += price - (cost ?? 0n);
    }
  }
  const otherCount = left === undefined ? 0 : integer(left, "calls");
  return {
    seen,
    changed,
    unpriced: skipped,
    otherCount,
    namedCount: named,
    differencePicoUsd,
  };
}

/** Who was asked: the provider, and for a call of the gateway its upstream. */
function routeOf(row: ResultRow): readonly string[] {
  return [text(row, "provider"), textOrNull(row, "upstream") ?? ""];
}

/** Both kinds of calls have them in the same place. */
function readPricing(outcome: string): {
  readonly serviceTier: string | undefined;
  readonly isCostNamed: boolean;
} {
  const fields = fieldsOf(JSON.parse(outcome));
  return {
    serviceTier: textIn(fields, "serviceTier"),
    isCostNamed: fields["isCostNamed"] === true,
  };
}

interface Change {
  readonly row: ResultRow;
  readonly cost: bigint | null;
  readonly price: bigint;
}

/** In order of time. A call has no key that both kinds share, so a page ends where a millisecond ends. */
async function* pagesOf(
  { database }: Store,
  fromMs: number,
  toMs: number,
): AsyncGenerator<readonly ResultRow[]> {
  for (let startMs = fromMs; startMs < toMs;) {
    const [last] = await database.query(
      `SELECT c.started_ms FROM calls c WHERE c.started_ms >= ? AND c.started_ms < ? ORDER BY c.started_ms LIMIT 1 OFFSET ${callsPerPage}`,
      [startMs, toMs],
    );
    const endMs = last === undefined ? toMs : integer(last, "started_ms") + 1;
    yield await database.query(
      `SELECT ${selected("calls", "c")} FROM calls c WHERE c.started_ms >= ? AND c.started_ms < ? AND ${isOfUsage}`,
      [startMs, endMs],
    );
    startMs = endMs;
  }
}

/** Those that took place: a call that changed or went meanwhile is left to the next run. */
async function change(store: Store, changes: readonly Change[]): Promise<readonly Change[]> {
  const result = await store.database.commit({
    inOrder: true,
    guards: [...changes.map(priced), ...paid(changes)],
    writes: [],
    landed: () => {
      const [{ row, price } = { row: {}, price: 0n }] = changes;
      const { sql, values } = keyOf(row);
      return {
        sql: `SELECT 1 AS landed FROM calls WHERE ${sql} AND cost_pico_usd = ?`,
        values: [...values, price],
      };
    },
  });
  if (result.kind === "done") return changes;
  if (changes.length === 1) return [];
  const middle = Math.ceil(changes.length / 2);
  return [
    ...(await change(store, changes.slice(0, middle))),
    ...(await change(store, changes.slice(middle))),
  ];
}

function priced({ row, cost, price }: Change): Guard {
  const { sql, values } = keyOf(row);
  return {
    name: "call",
    sql: `UPDATE calls SET cost_pico_usd = ? WHERE ${sql} AND cost_pico_usd IS NOT DISTINCT FROM ?`,
    values: [price, ...values, cost],
  };
}

function keyOf(row: ResultRow): { readonly sql: string; readonly values: readonly Value[] } {
  const turnId = textOrNull(row, "turn_id");
  return turnId === null
    ? {
        sql: "turn_id IS NULL AND session_id = ? AND id = ?",
        values: [text(row, "session_id"), textOrNull(row, "id")],
      }
    : { sql: "turn_id = ? AND number = ?", values: [turnId, integer(row, "number")] };
}

/** What each session cost changes by as much. In one order, so that two writers do not wait for each other. */
function paid(changes: readonly Change[]): readonly Guard[] {
  const bySession = Map.groupBy(changes, ({ row }) => text(row, "session_id"));
  return [...bySession]
    .filter(([id]) => id !== "")
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([id, of]) => {
      const sum = of.reduce((all, { cost, price }) => all + price - (cost ?? 0n), 0n);
      return {
        name: "session",
        sql: "UPDATE sessions SET cost_pico_usd = cost_pico_usd + CAST(? AS BIGINT) WHERE id = ?",
        values: [sum, id],
      };
    });
}
