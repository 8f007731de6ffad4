// Who is at work: each open conversation, how long its cache stays warm, and what it costs if it goes cold.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ApiRoutes } from "../../../api/client/answers.ts";
import { dollars, left, toDollars, tokens } from "../../words/figures.ts";
import { client, useAnswer } from "../app/ask.ts";
import { Answered, Card, Empty } from "../app/answered.tsx";
import { linkTo } from "../app/route.ts";
import { moment } from "../app/times.ts";

type Row = ApiRoutes["warmth"]["answer"]["data"][number];

const shownMax = 10;

export function Warm(): JSX.Element {
  const answer = useAnswer(
    (signal) => client.ask("warmth", { query: { limit: shownMax }, signal }),
    [],
  );
  return (
    <Card title="Open conversations">
      <Answered to={answer}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>No cache is warm, and none went cold within the last hour.</Empty>
          ) : (
            <Clocks rows={data} />
          )
        }
      </Answered>
    </Card>
  );
}

/** Counts down between two answers. */
function Clocks({ rows }: { readonly rows: readonly Row[] }): JSX.Element {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <ul class="plain">
      {rows.map((row) => (
        <li class="warm" key={row.session}>
          <a href={linkTo("session", row.session)}>
            {row.agent}
            {row.parent_session === null ? "" : " (sub-agent)"}
          </a>
          <Rest row={row} nowMs={nowMs} />
        </li>
      ))}
    </ul>
  );
}

function Rest({ row, nowMs }: { readonly row: Row; readonly nowMs: number }): JSX.Element {
  const until = Date.parse(row.warm_until);
  const whole = Math.max(1, until - Date.parse(row.last_call_at));
  const leftMs = Math.max(0, until - nowMs);
  const loss = row.cold_cost_usd === null ? "" : `cold: ${dollars(toDollars(row.cold_cost_usd))}`;
  return (
    <>
      <span>{leftMs > 0 ? `${left(leftMs)} left` : `cold since ${moment(until, nowMs)}`}</span>
      <span title={`${tokens(row.kept_tokens)} kept`}>{loss}</span>
      <meter aria-label={`time left for ${row.agent}`} min={0} max={1} value={leftMs / whole} />
    </>
  );
}
