// Sessions: all of them, to search, sort and open.
import type { JSX } from "preact";
import { counted, dollars, share, toDollars } from "../../words/figures.ts";
import { client, useAnswer } from "../app/ask.ts";
import { Answered, Card, Empty, Say } from "../app/answered.tsx";
import { linkTo } from "../app/route.ts";
import type { SessionRow } from "../app/rows.ts";
import { Table, type Column } from "../app/table.tsx";
import { moment } from "../app/times.ts";
import { chosenWindow, Find, isFound, WindowChoice, windowName } from "./window.tsx";

export function Sessions(): JSX.Element {
  const from = chosenWindow();
  const answer = useAnswer(
    (signal) => client.ask("sessions", { query: { from, order: "cost_usd", limit: 1000 }, signal }),
    [from],
  );
  return (
    <Answered to={answer}>
      {({ data, left_out_count: leftOut }) => {
        const shown = data.filter((row) => isFound([row.session, row.agent, row.model]));
        return (
          <>
            <SaySessions rows={data} />
            <div class="choices">
              <WindowChoice />
              <Find />
            </div>
            <Card title={counted(shown.length, "session")}>
              {shown.length === 0 ? (
                <Empty>
                  {data.length === 0
                    ? "No sessions in this time. Point an agent here: the front page of strata serve says how."
                    : "No session has these words."}
                </Empty>
              ) : (
                <Table label="sessions" rows={shown} columns={columns} file="strata-sessions.csv" />
              )}
              {leftOut > 0 && <p class="note">{counted(leftOut, "more session")} in this time</p>}
            </Card>
          </>
        );
      }}
    </Answered>
  );
}

function SaySessions({ rows }: { readonly rows: readonly SessionRow[] }): JSX.Element {
  const [dearest] = rows;
  if (dearest === undefined) return <Say>No sessions in the {windowName()}.</Say>;
  const sum = rows.reduce((paid, { cost_usd: usd }) => paid + Number(usd), 0);
  return (
    <Say>
      {counted(rows.length, "session")} cost <b>{dollars(sum)}</b> in the {windowName()}; the
      dearest,{" "}
      <a href={linkTo("session", dearest.session ?? "")}>{dearest.agent ?? dearest.session}</a>,{" "}
      <b>{dollars(toDollars(dearest.cost_usd))}</b>.
    </Say>
  );
}

const columns: readonly Column<SessionRow>[] = [
  {
    name: "session",
    value: ({ session }) => session,
    isWords: true,
    show: ({ session }) =>
      session === null ? "deleted" : <a href={linkTo("session", session)}>{session}</a>,
  },
  { name: "agent", value: ({ agent }) => agent, isWords: true },
  { name: "model", value: ({ model }) => model, isWords: true },
  {
    name: "dollars",
    value: (row) => toDollars(row.cost_usd),
    show: (row) => dollars(toDollars(row.cost_usd)),
  },
  { name: "calls", value: (row) => row.call_count },
  { name: "read from cache", value: (row) => row.hit_rate, show: (row) => share(row.hit_rate) },
  {
    name: "last call",
    value: ({ last_call_at: last }) => last,
    show: ({ last_call_at: last }) => (last === null ? "–" : moment(Date.parse(last), Date.now())),
  },
];
