// Money by cause: what was paid because something broke the cache, beside what was paid though nothing did.
import type { JSX } from "preact";
import { capital, clauseOf } from "../../words/causes.ts";
import { counted, dollars, share, toDollars } from "../../words/figures.ts";
import { client, useAnswer } from "../app/ask.ts";
import { Answered, Empty, Notes } from "../app/answered.tsx";
import { linkTo } from "../app/route.ts";
import { labelOf, type MissRow, type SavingsRow } from "../app/rows.ts";
import { Table, type Column } from "../app/table.tsx";
import { chosenWindow } from "./window.tsx";

interface Part {
  readonly name: string;
  readonly dollars: number;
  /** Of all that was paid. */
  readonly share: number | null;
  readonly missCount: number | null;
  /** The session that lost most. */
  readonly session: string | null;
}

export function useCauses(): ReturnType<typeof useAnswer<{ readonly data: readonly MissRow[] }>> {
  const from = chosenWindow();
  return useAnswer(
    (signal) =>
      client.ask("misses", {
        query: { from, group_by: "cause", order: "lost_cost_usd", limit: 1000 },
        signal,
      }),
    [from],
  );
}

/** Paid, without its misses, without a cache: the same calls. */
export function Compared({
  row,
  causes,
}: {
  readonly row: SavingsRow | undefined;
  readonly causes: readonly MissRow[];
}): JSX.Element {
  if (row === undefined || row.call_count === 0) return <Empty>No calls in this time.</Empty>;
  const { actual_cost_usd: usd, cost_usd: without, unpriced_call_count: unpriced } = row.no_cache;
  const actual = Number(usd);
  const unbroken = actual - lostIn(causes);
  const figures = [
    ["without a cache", Number(without), "the same tokens at full price"],
    ["paid", actual, `${share(savedOf(actual, Number(without)))} less than without a cache`],
    ["had no cache broken", unbroken, `${share(savedOf(unbroken, actual))} less than was paid`],
  ] as const;
  const unknownCount = causes.reduce((sum, each) => sum + each.unpriced_miss_count, 0);
  return (
    <>
      <dl class="figures">
        {figures.map(([name, amount, note]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {dollars(amount)}
              <small>{note}</small>
            </dd>
          </div>
        ))}
      </dl>
      <Notes
        of={[
          "the limit, the least that the same prompts can cost, is not known here: strata replay works it out from recorded sessions",
          ...(unpriced === 0 ? [] : [`${counted(unpriced, "call")} without a price left out`]),
          ...(unknownCount === 0
            ? []
            : [`${counted(unknownCount, "miss", "misses")} of unknown cost left out`]),
        ]}
      />
    </>
  );
}

function savedOf(amount: number, of: number): number | null {
  return of === 0 ? null : 1 - amount / of;
}

function lostIn(causes: readonly MissRow[]): number {
  return causes.reduce((sum, each) => sum + Number(each.lost_cost_usd), 0);
}

export function CostByCause({
  row,
  causes,
}: {
  readonly row: SavingsRow | undefined;
  readonly causes: ReturnType<typeof useCauses>;
}): JSX.Element {
  const actual = toDollars(row?.no_cache.actual_cost_usd) ?? 0;
  return (
    <Answered to={causes}>
      {({ data }) => (
        <Table
          label="costs by cause"
          rows={partsOf(data, actual)}
          columns={columns}
          file="strata-cost-by-cause.csv"
        />
      )}
    </Answered>
  );
}

function partsOf(causes: readonly MissRow[], actual: number): readonly Part[] {
  const shareOf = (amount: number): number | null => (actual === 0 ? null : amount / actual);
  const rest = actual - lostIn(causes);
  return [
    {
      name: "No break: what the calls cost by themselves",
      dollars: rest,
      share: shareOf(rest),
      missCount: null,
      session: null,
    },
    ...causes.map((each) => {
      const lost = Number(each.lost_cost_usd);
      return {
        name: capital(clauseOf(labelOf(each, "cause"))),
        dollars: lost,
        share: shareOf(lost),
        missCount: each.miss_count,
        session: each.costliest_session,
      };
    }),
  ];
}

const columns: readonly Column<Part>[] = [
  {
    name: "cause",
    value: ({ name }) => name,
    isWords: true,
    show: ({ name, session }) =>
      session === null ? name : <a href={linkTo("session", session)}>{name}</a>,
  },
  { name: "dollars", value: (part) => part.dollars, show: (part) => dollars(part.dollars) },
  { name: "share", value: (part) => part.share, show: (part) => share(part.share) },
  { name: "misses", value: ({ missCount }) => missCount },
];
