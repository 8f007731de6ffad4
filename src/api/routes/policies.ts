// What simple policies would have cost on the calls that the gateway saw, beside what was paid for the same calls.
import { toUsdText } from "../../analytics/figures.ts";
import { toIso } from "../../analytics/time-window.ts";
import { fromGatewayText } from "../../core/ledger/gateway-text.ts";
import type { ResultRow, Snapshot } from "../../edge/stores/sql/database.ts";
import { integer, moneyOrNull, readAs, text as textOf } from "../../edge/stores/sql/read-row.ts";
import { windowOf } from "./paging.ts";
import type { Asked, Found, Route, Source } from "./route.ts";
import { count, list, moment, object, text, usd } from "./schema.ts";

/** More would take seconds. */
const callsMax = 100_000;
const callsPerRead = 2000;

export const policyRoutes: readonly Route[] = [
  {
    name: "policies",
    method: "GET",
    path: "/policies",
    isSlow: true,
    summary:
      "What each policy would have cost on the calls of a time, beside what was paid for the same calls. Of conversations that the gateway saw",
    query: ["from", "to", "session", "model", "agent"],
    answer: object({
      window: object({ start: moment("included"), end: moment("not included") }),
      data: list(
        object({
          policy: text("its name; `client` for the client's own markers, where ours were sent"),
          call_count: count("calls for which its cost is known"),
          cost_usd: usd("what these would have cost with it, the replies included"),
          paid_usd: usd("what these did cost"),
          saved_usd: usd("the difference; negative where the policy would have been cheaper"),
        }),
        "the cheapest beside what was paid first",
      ),
      call_count: count("calls of the time"),
      paid_usd: usd("what they cost, those that are not compared included"),
      uncompared_call_count: count("of which no policy's cost is known"),
      uncompared_usd: usd("what these cost"),
      left_out_count: count("older calls of the time that were not read"),
      notes: list(text("a sentence"), "what the figures cover, in words"),
    }),
    errors: ["invalid_time_window"],
    example: "/policies?from=7d",
    read: readPolicies,
  },
];

async function readPolicies(asked: Asked, { database, nowMs }: Source): Promise<Found> {
  const { window, isClosed } = windowOf(asked, nowMs);
  const where = conditionOf(asked, window.startMs, window.endMs);
  const sums = createSums();
  const leftOut = await database.snapshot(async ({ query }) => {
    const [counted] = await query(`SELECT COUNT(*) AS call_count ${where.sql}`, where.values);
    await readLatest(query, where, sums);
    return Math.max(0, integer(counted ?? {}, "call_count") - callsMax);
  });
  const ends = { start: toIso(window.startMs), end: toIso(window.endMs) };
  return { body: { window: ends, ...sums.toAnswer(), left_out_count: leftOut, notes }, isClosed };
}

const notes = [
  "what a policy would have cost is by its own account of each conversation, from the same prompts at the same times and the same replies",
  "accounts are kept of one marker at the end for 5 minutes or an hour, and of none; strata replay prices every policy",
  "calls that failed, have no price or were the gateway's own to keep a cache warm are compared with nothing",
];

interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

function conditionOf({ query }: Asked, startMs: number, endMs: number): Condition {
  const { session, model, agent } = query;
  const more: [string, string][] = [];
  if (session !== undefined) more.push([" AND c.session_id = ?", session]);
  if (model !== undefined) more.push([" AND c.model = ?", model]);
  if (agent !== undefined) {
    more.push([" AND c.session_id IN (SELECT id FROM sessions WHERE agent = ?)", agent]);
  }
  return {
    sql: `FROM calls c WHERE c.turn_id IS NULL AND c.kind = 'gateway' AND c.started_ms >= ? AND c.started_ms < ?${more.map(([sql]) => sql).join("")}`,
    values: [startMs, endMs, ...more.map(([, value]) => value)],
  };
}

/** In parts, because an outcome may be long: no more than one of them is held. */
async function readLatest(
  query: Snapshot["query"],
  { sql, values }: Condition,
  sums: PolicySums,
): Promise<void> {
  let after: readonly (string | number)[] = [];
  for (let read = 0; read < callsMax; read += callsPerRead) {
    const rows = await query(
      `SELECT c.started_ms, c.entry_hash, CAST(c.cost_pico_usd AS TEXT) AS cost_pico_usd, CAST(c.client_cost_pico_usd AS TEXT) AS client_cost_pico_usd, c.outcome_json
      ${sql}${after.length === 0 ? "" : " AND (c.started_ms, c.entry_hash) < (?, ?)"} ORDER BY c.started_ms DESC, c.entry_hash DESC LIMIT ${callsPerRead}`,
      [...values, ...after],
    );
    for (const row of rows) sums.add(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < callsPerRead) return;
    after = [integer(last, "started_ms"), textOf(last, "entry_hash")];
  }
}

interface Sum {
  callCount: number;
  costPicoUsd: bigint;
  paidPicoUsd: bigint;
}

interface PolicySums {
  add(row: ResultRow): void;
  toAnswer(): object;
}

function createSums(): PolicySums {
  const policies = new Map<string, Sum>();
  const all = { callCount: 0, paidPicoUsd: 0n, uncomparedCount: 0, uncomparedPicoUsd: 0n };
  const addTo = (policy: string, costPicoUsd: bigint, paidPicoUsd: bigint): void => {
    const sum = policies.get(policy) ?? { callCount: 0, costPicoUsd: 0n, paidPicoUsd: 0n };
    sum.callCount += 1;
    sum.costPicoUsd += costPicoUsd;
    sum.paidPicoUsd += paidPicoUsd;
    policies.set(policy, sum);
  };
  return {
    add: (row) => {
      const paid = moneyOrNull(row, "cost_pico_usd");
      const { otherPolicies } = readAs(row, "outcome_json", fromGatewayText);
      all.callCount += 1;
      all.paidPicoUsd += paid ?? 0n;
      if (paid === null || otherPolicies.length === 0) {
        all.uncomparedCount += 1;
        all.uncomparedPicoUsd += paid ?? 0n;
        return;
      }
      for (const { policy, costPicoUsd } of otherPolicies) addTo(policy, costPicoUsd, paid);
      const client = moneyOrNull(row, "client_cost_pico_usd");
      if (client !== null) addTo("client", client, paid);
    },
    toAnswer: () => ({
      data: [...policies].toSorted(([, one], [, other]) => bySaved(one, other)).map(toRow),
      call_count: all.callCount,
      paid_usd: toUsdText(all.paidPicoUsd),
      uncompared_call_count: all.uncomparedCount,
      uncompared_usd: toUsdText(all.uncomparedPicoUsd),
    }),
  };
}

function bySaved(one: Sum, other: Sum): number {
  const [left, right] = [one, other].map((sum) => sum.costPicoUsd - sum.paidPicoUsd);
  return (left ?? 0n) < (right ?? 0n) ? -1 : 1;
}

function toRow([policy, { callCount, costPicoUsd, paidPicoUsd }]: readonly [string, Sum]): object {
  return {
    policy,
    call_count: callCount,
    cost_usd: toUsdText(costPicoUsd),
    paid_usd: toUsdText(paidPicoUsd),
    saved_usd: toUsdText(costPicoUsd - paidPicoUsd),
  };
}
