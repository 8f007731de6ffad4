// Now: what this hour and this day cost, what was saved and lost, and who is at work.
import type { JSX } from "preact";
import type { ApiRoutes } from "../../../api/client/answers.ts";
import { capital, clauseOf } from "../../words/causes.ts";
import { describeListedMiss } from "../../words/session-words.ts";
import { counted, dollars, share, toDollars, tokens } from "../../words/figures.ts";
import { client, useAnswer, type Asked } from "../app/ask.ts";
import { Answered, Card, Empty, Say } from "../app/answered.tsx";
import { linkTo } from "../app/route.ts";
import { labelOf, type CostRow, type MissRow, type SavingsRow } from "../app/rows.ts";
import { clock } from "../app/times.ts";
import { Unusual } from "./unusual.tsx";
import { Warm } from "./warm.tsx";

export function Now(): JSX.Element {
  const { hour, day, today, lost, latest } = useAnswers();
  return (
    <>
      <Answered to={day}>
        {({ data: [saved] }) => (
          <Answered to={lost}>{({ data }) => <SayNow saved={saved} misses={data} />}</Answered>
        )}
      </Answered>
      <Unusual hour={hour} mayAsk={day.kind !== "waiting" && lost.kind !== "waiting"} />
      <Card title="In figures">
        <Answered to={hour}>
          {({ data: [last] }) => (
            <Answered to={today}>
              {({ data: [row] }) => <Figures hour={last} today={row} saved={day} />}
            </Answered>
          )}
        </Answered>
      </Card>
      <div class="grid">
        <Card title="Latest misses">
          <Answered to={latest}>{({ data }) => <Latest misses={data} />}</Answered>
        </Card>
        <Card title="Lost today, by cause">
          <Answered to={lost}>{({ data }) => <Lost rows={data} />}</Answered>
        </Card>
        <Warm />
      </div>
    </>
  );
}

interface Answers {
  readonly hour: Asked<ApiRoutes["cost"]["answer"]>;
  readonly day: Asked<ApiRoutes["savings"]["answer"]>;
  readonly today: Asked<ApiRoutes["cost"]["answer"]>;
  readonly lost: Asked<ApiRoutes["misses"]["answer"]>;
  readonly latest: Asked<ApiRoutes["miss_list"]["answer"]>;
}

function useAnswers(): Answers {
  const from = midnight();
  const whole = { from, group_by: "none" } as const;
  return {
    hour: useAnswer(
      (signal) => client.ask("cost", { query: { from: "1h", group_by: "none" }, signal }),
      [],
    ),
    day: useAnswer((signal) => client.ask("savings", { query: whole, signal }), [from]),
    today: useAnswer((signal) => client.ask("cost", { query: whole, signal }), [from]),
    lost: useAnswer(
      (signal) =>
        client.ask("misses", {
          query: { from, group_by: "cause", order: "lost_cost_usd", limit: 6 },
          signal,
        }),
      [from],
    ),
    latest: useAnswer(
      (signal) => client.ask("miss_list", { query: { from: "24h", limit: latestMax }, signal }),
      [],
    ),
  };
}

/** The reader's own midnight, as the API takes it. */
function midnight(): string {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  return day.toISOString();
}

function SayNow({
  saved,
  misses,
}: {
  readonly saved: SavingsRow | undefined;
  readonly misses: readonly MissRow[];
}): JSX.Element {
  if (saved === undefined || saved.call_count === 0) {
    return (
      <Say note="The gateway forwards to every provider and changes nothing unless asked.">
        No calls today. Point an agent here:{" "}
        <code>ANTHROPIC_BASE_URL={location.origin} claude</code>
      </Say>
    );
  }
  const { actual_cost_usd: actual, cost_usd: without } = saved.no_cache;
  const lost = misses.reduce((sum, { lost_cost_usd: usd }) => sum + Number(usd), 0);
  const [worst] = misses;
  return (
    <Say
      note={
        worst === undefined ? undefined : (
          <>
            What to do about it: <a href={linkTo("misses", null, { from: "24h" })}>Misses</a>.
          </>
        )
      }
    >
      Today cost <b>{dollars(toDollars(actual))}</b>. Without a cache it would have been{" "}
      {dollars(toDollars(without))}.{" "}
      {worst === undefined ? (
        "Nothing was lost."
      ) : (
        <>
          <b>{dollars(lost)}</b> was lost, most of it because{" "}
          <b>{clauseOf(labelOf(worst, "cause"))}</b>.
        </>
      )}
    </Say>
  );
}

function Figures({
  hour,
  today,
  saved,
}: {
  readonly hour: CostRow | undefined;
  readonly today: CostRow | undefined;
  readonly saved: ReturnType<typeof useAnswer<{ readonly data: readonly SavingsRow[] }>>;
}): JSX.Element {
  const noCache = saved.kind === "answer" ? saved.answer.data[0]?.no_cache : undefined;
  const figures: readonly (readonly [string, string, string])[] = [
    [
      "last hour",
      dollars(toDollars(hour?.cost_usd ?? "0")),
      counted(hour?.call_count ?? 0, "call"),
    ],
    ["today", dollars(toDollars(today?.cost_usd ?? "0")), counted(today?.call_count ?? 0, "call")],
    [
      "saved today",
      dollars(toDollars(noCache?.saved_usd ?? "0")),
      `${share(noCache?.saved_share ?? null)} of the same calls without a cache`,
    ],
    ["read from the cache", share(today?.hit_rate ?? null), "of all prompt tokens today"],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            <small>{note}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

type ListedMiss = ApiRoutes["miss_list"]["answer"]["data"][number];

const latestMax = 6;

function Latest({ misses }: { readonly misses: readonly ListedMiss[] }): JSX.Element {
  if (misses.length === 0) return <Empty>None in the last 24 hours.</Empty>;
  return (
    <ul class="plain">
      {misses.map((miss, index) => (
        <li class="miss" key={index}>
          <span>{clock(Date.parse(miss.at))}</span>{" "}
          <a href={linkTo("session", miss.session, miss.call === null ? {} : { call: miss.call })}>
            {describeListedMiss(miss)}
          </a>{" "}
          <span>{miss.advice}</span>
        </li>
      ))}
    </ul>
  );
}

function Lost({ rows }: { readonly rows: readonly MissRow[] }): JSX.Element {
  if (rows.length === 0) return <Empty>No misses today.</Empty>;
  return (
    <ul class="plain">
      {rows.map((row) => (
        <li class="miss" key={labelOf(row, "cause")}>
          <span class="price">{dollars(toDollars(row.lost_cost_usd))}</span>
          <a href={linkTo("session", row.costliest_session)}>
            <b>{capital(clauseOf(labelOf(row, "cause")))}</b>
          </a>{" "}
          <span>
            {counted(row.miss_count, "time")}: {tokens(row.lost_tokens)} paid again
            {row.costliest_block === null ? "" : `, most at ${row.costliest_block}`}
          </span>
        </li>
      ))}
    </ul>
  );
}
