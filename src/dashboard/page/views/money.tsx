// Money: what was paid, for what, when, and what it would have been without a cache.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { counted, dollars, share, tokens, toDollars } from "../../words/figures.ts";
import { client, useAnswer } from "../app/ask.ts";
import { Answered, Card, Empty, Say } from "../app/answered.tsx";
import { Chart } from "../app/chart.tsx";
import { place } from "../app/route.ts";
import { labelOf, type CostRow, type SavingsRow } from "../app/rows.ts";
import { Table, type Column } from "../app/table.tsx";
import { Compared, CostByCause, useCauses } from "./money-causes.tsx";
import { Choice, chosenWindow, WindowChoice, windowName } from "./window.tsx";

const groups = [
  ["model", "model"],
  ["agent", "agent"],
  ["provider", "provider"],
  ["gateway_key", "key"],
  ["user", "user"],
  ["team", "team"],
  ["session", "session"],
  ["is_worker", "sub-agents"],
  ["day", "day"],
  ["cause", "cause"],
] as const;

export function Money(): JSX.Element {
  const from = chosenWindow();
  const wanted = place.value.choices.get("group");
  const group = groups.find(([name]) => name === wanted)?.[0] ?? "model";
  const bucket = from === "1h" || from === "24h" ? "hour" : "day";
  const savings = useAnswer(
    (signal) => client.ask("savings", { query: { from, group_by: "none" }, signal }),
    [from],
  );
  const causes = useCauses();
  const times = useAnswer(
    (signal) =>
      client.ask("cost", {
        query: { from, group_by: bucket, order: "group:asc", limit: 1000 },
        signal,
      }),
    [from, bucket],
  );
  return (
    <>
      <Answered to={savings}>{({ data }) => <SayMoney row={data[0]} />}</Answered>
      <div class="choices">
        <WindowChoice />
        <Choice name="group" label="by" value={group} options={groups} />
      </div>
      <Card title="The same calls, paid three ways">
        <Answered to={savings}>
          {({ data: [row] }) => (
            <Answered to={causes}>{({ data }) => <Compared row={row} causes={data} />}</Answered>
          )}
        </Answered>
      </Card>
      <Card title={`Dollars per ${bucket}`}>
        <Answered to={times}>{({ data }) => <Times rows={data} bucket={bucket} />}</Answered>
      </Card>
      <Card title="What it was paid for">
        {group === "cause" ? (
          <Answered to={savings}>
            {({ data: [row] }) => <CostByCause row={row} causes={causes} />}
          </Answered>
        ) : (
          <CostsBy group={group} />
        )}
      </Card>
      <Card title="Optimised against held out">
        <Answered to={savings}>{({ data }) => <Arms row={data[0]} />}</Answered>
      </Card>
    </>
  );
}

type CallGroup = Exclude<(typeof groups)[number][0], "cause">;

function CostsBy({ group }: { readonly group: CallGroup }): JSX.Element {
  const from = chosenWindow();
  const costs = useAnswer(
    (signal) => client.ask("cost", { query: { from, group_by: group, limit: 1000 }, signal }),
    [from, group],
  );
  return (
    <Answered to={costs}>
      {({ data, left_out_count: leftOut }) => (
        <>
          <Table
            label="costs"
            rows={data}
            columns={columnsFor(group)}
            file={`strata-cost-by-${group}.csv`}
          />
          {leftOut > 0 && <p class="note">{counted(leftOut, "more row")} not shown</p>}
        </>
      )}
    </Answered>
  );
}

function SayMoney({ row }: { readonly row: SavingsRow | undefined }): JSX.Element {
  if (row === undefined || row.call_count === 0) {
    return <Say>Nothing was paid in the {windowName()}.</Say>;
  }
  const { actual_cost_usd: actual, cost_usd: without, saved_share: saved } = row.no_cache;
  const isLess = (saved ?? 0) >= 0;
  return (
    <Say note="Both sides are the same calls at list prices. What a client's own markers read is part of it.">
      <b>{dollars(toDollars(actual))}</b> in the {windowName()}. Without a cache the same calls
      would have cost {dollars(toDollars(without))}:{" "}
      <b class={isLess ? "good" : "fault"}>{share(Math.abs(saved ?? 0))}</b>{" "}
      {isLess ? "less was paid" : "more was paid"}.
    </Say>
  );
}

function Times({
  rows,
  bucket,
}: {
  readonly rows: readonly CostRow[];
  readonly bucket: string;
}): JSX.Element {
  const { times, lines } = useMemo(() => {
    const known = new Map(
      rows.map((row) => [Date.parse(toMoment(labelOf(row, bucket))), toDollars(row.cost_usd)]),
    );
    // Where nothing was called nothing was paid, and the first and the last have room beside them.
    const stepMs = bucket === "hour" ? 3_600_000 : 86_400_000;
    const [first, last] = [Math.min(...known.keys()), Math.max(...known.keys())];
    const count = Math.min(stepsMax, Math.round((last - first) / stepMs) + 3);
    const all = Array.from({ length: count }, (_, index) => first + (index - 1) * stepMs);
    return {
      times: all.map((ms) => ms / 1000),
      lines: [{ name: "paid", values: all.map((ms) => known.get(ms) ?? 0) }],
    };
  }, [rows, bucket]);
  if (rows.length === 0) return <Empty>No calls in this time.</Empty>;
  return <Chart label={`dollars per ${bucket}`} times={times} lines={lines} />;
}

const stepsMax = 1000;

/** Days and hours are in UTC. */
function toMoment(label: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d$/.test(label) ? `${label}:00Z` : label;
}

function columnsFor(group: string): readonly Column<CostRow>[] {
  return [
    { name: group.replace("_", " "), value: (row) => labelOf(row, group), isWords: true },
    {
      name: "dollars",
      value: (row) => toDollars(row.cost_usd),
      show: (row) => dollars(toDollars(row.cost_usd)),
    },
    { name: "calls", value: (row) => row.call_count },
    { name: "read from cache", value: (row) => row.hit_rate, show: (row) => share(row.hit_rate) },
    {
      name: "read",
      value: (row) => row.cached_input_tokens,
      show: (row) => tokens(row.cached_input_tokens),
    },
    {
      name: "written",
      value: (row) => row.cache_creation_tokens,
      show: (row) => tokens(row.cache_creation_tokens),
    },
    {
      name: "full price",
      value: (row) => row.uncached_input_tokens,
      show: (row) => tokens(row.uncached_input_tokens),
    },
    { name: "output", value: (row) => row.output_tokens, show: (row) => tokens(row.output_tokens) },
    { name: "without a price", value: (row) => row.unpriced_call_count },
  ];
}

function Arms({ row }: { readonly row: SavingsRow | undefined }): JSX.Element {
  const arms = row?.arms ?? null;
  if (arms === null) {
    return (
      <Empty>
        No conversation was optimised. To try it on half of them and compare:{" "}
        <code>strata serve --optimize</code>
      </Empty>
    );
  }
  const { claim, reason, saved_share: saved, saved_share_low: low, saved_share_high: high } = arms;
  return (
    <>
      <p>
        {claim === null
          ? `Nothing is claimed yet: ${reason ?? "there is too little to compare"}.`
          : `Optimising cost ${share(Math.abs(saved ?? 0))} ${claim === "cheaper" ? "less" : "more"}; with 95 % confidence between ${share(low)} and ${share(high)}.`}
      </p>
      <dl class="pairs">
        <dt>optimised conversations</dt>
        <dd>
          {arms.strata_conversation_count}, at {share(arms.strata_cost_share)} of their cost without
          a cache
        </dd>
        <dt>held out</dt>
        <dd>
          {arms.holdout_conversation_count}, at {share(arms.holdout_cost_share)}
        </dd>
        <dt>against the clients' own markers</dt>
        <dd>{dollars(toDollars(arms.saved_usd))} saved</dd>
      </dl>
    </>
  );
}
