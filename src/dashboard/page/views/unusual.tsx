// What is unusual about the last hour, as sentences with a mark. How much more than usual that is stands in the address.
import type { JSX } from "preact";
import { findJumps, type HourFigures, type Jump } from "../../picture/find-jumps.ts";
import { dollars, share } from "../../words/figures.ts";
import { client, useAnswer, type Asked } from "../app/ask.ts";
import { Answered, Card, Empty } from "../app/answered.tsx";
import { linkTo, place } from "../app/route.ts";
import { labelOf, type CostRow, type MissRow } from "../app/rows.ts";
import { Choice } from "./window.tsx";

const multiples = [
  ["2", "twice the usual"],
  ["3", "3 times the usual"],
  ["5", "5 times the usual"],
  ["10", "10 times the usual"],
] as const;

type HourCost = Asked<{ readonly data: readonly CostRow[] }>;

/** `mayAsk`: whether what the page begins with has its answers, so that these questions do not delay it. */
export function Unusual({
  hour,
  mayAsk,
}: {
  readonly hour: HourCost;
  readonly mayAsk: boolean;
}): JSX.Element {
  const wanted = place.value.choices.get("unusual");
  const multiple = multiples.find(([value]) => value === wanted)?.[0] ?? "3";
  return (
    <Card title="Unusual in the last hour">
      {mayAsk && <Jumps hour={hour} multiple={Number(multiple)} />}
      <div class="choices">
        <Choice name="unusual" label="more than" value={multiple} options={multiples} />
      </div>
    </Card>
  );
}

function Jumps({
  hour,
  multiple,
}: {
  readonly hour: HourCost;
  readonly multiple: number;
}): JSX.Element {
  const { costs, misses, missed } = useAnswers();
  return (
    <Answered to={costs}>
      {({ data: paid }) => (
        <Answered to={misses}>
          {({ data: broken }) => (
            <Answered to={hour}>
              {({ data: [cost] }) => (
                <Answered to={missed}>
                  {({ data: [row] }) => (
                    <SayJumps
                      jumps={findJumps(
                        figuresOf(cost, row),
                        hoursBefore(paid, broken, Date.now()),
                        multiple,
                      )}
                    />
                  )}
                </Answered>
              )}
            </Answered>
          )}
        </Answered>
      )}
    </Answered>
  );
}

interface Answers {
  /** By hour, of the last 24. */
  readonly costs: Asked<{ readonly data: readonly CostRow[] }>;
  readonly misses: Asked<{ readonly data: readonly MissRow[] }>;
  /** In the last hour. */
  readonly missed: Asked<{ readonly data: readonly MissRow[] }>;
}

function useAnswers(): Answers {
  const byHour = { from: "24h", group_by: "hour", limit: 1000 } as const;
  const lastHour = { from: "1h", group_by: "none" } as const;
  return {
    costs: useAnswer((signal) => client.ask("cost", { query: byHour, signal }), []),
    misses: useAnswer((signal) => client.ask("misses", { query: byHour, signal }), []),
    missed: useAnswer((signal) => client.ask("misses", { query: lastHour, signal }), []),
  };
}

function figuresOf(cost: CostRow | undefined, missed: MissRow | undefined): HourFigures {
  return {
    dollars: Number(cost?.cost_usd ?? "0"),
    callCount: cost?.call_count ?? 0,
    missCount: missed?.miss_count ?? 0,
  };
}

const hourMs = 3_600_000;

/** Whole hours that ended before the last one began. */
function hoursBefore(
  paid: readonly CostRow[],
  broken: readonly MissRow[],
  nowMs: number,
): readonly HourFigures[] {
  const missesOf = new Map(broken.map((row) => [labelOf(row, "hour"), row]));
  return paid.flatMap((row) => {
    const hour = labelOf(row, "hour");
    return Date.parse(hour) + hourMs <= nowMs - hourMs ? [figuresOf(row, missesOf.get(hour))] : [];
  });
}

function SayJumps({ jumps }: { readonly jumps: readonly Jump[] }): JSX.Element {
  if (jumps.length === 0) {
    return <Empty>Nothing, against the other hours of the last 24 in which something ran.</Empty>;
  }
  return (
    <ul class="plain" role="status">
      {jumps.map(({ what, now, usual }) => (
        <li class="miss" key={what}>
          <b class="fault">
            <i aria-hidden="true">▲ </i>
            {what === "dollars"
              ? `${dollars(now)} was paid, where an hour usually costs ${dollars(usual)}.`
              : `${share(now)} of calls broke the cache, where usually ${share(usual)} do.`}
          </b>{" "}
          <a href={linkTo(what === "dollars" ? "money" : "misses", null, { from: "1h" })}>
            {what === "dollars" ? "What it was paid for" : "Why they broke"}
          </a>
        </li>
      ))}
    </ul>
  );
}
