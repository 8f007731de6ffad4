// Sessions: all of them, to search, sort and open.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { counted, dollars, share, toDollars } from "../../words/figures.ts";
import { nameSession } from "../../words/names.ts";
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
  const listed = useAnswer(
    (signal) => client.ask("session_list", { query: { from, limit: 500 }, signal }),
    [from],
  );
  // What programs call their sessions: figures know ids only.
  const names = useMemo(
    () =>
      new Map(
        listed.kind === "answer"
          ? listed.answer.data.map((each) => [each.session, nameSession(each)])
          : [],
      ),
    [listed],
  );
  return (
    // No session changes its name while someone reads.
    <Answered to={listed.kind === "waiting" ? listed : answer}>
      {({ data, left_out_count: leftOut }) => {
        const shown = data.filter((row) =>
          isFound([row.session, names.get(row.session ?? "") ?? null, row.agent, row.model]),
        );
        return (
          <>
            <SaySessions rows={data} names={names} />
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
                <Table
                  label="sessions"
                  rows={shown}
                  columns={columnsFor(names)}
                  file="strata-sessions.csv"
                />
              )}
              {leftOut > 0 && <p class="note">{counted(leftOut, "more session")} in this time</p>}
            </Card>
          </>
        );
      }}
    </Answered>
  );
}

type Names = ReadonlyMap<string, string>;

function nameIn(names: Names, row: SessionRow): string {
  return names.get(row.session ?? "") ?? nameSession(row);
}

function SaySessions({
  rows,
  names,
}: {
  readonly rows: readonly SessionRow[];
  readonly names: Names;
}): JSX.Element {
  const [dearest] = rows;
  if (dearest === undefined) return <Say>No sessions in the {windowName()}.</Say>;
  const sum = rows.reduce((paid, { cost_usd: usd }) => paid + Number(usd), 0);
  return (
    <Say>
      {counted(rows.length, "session")} cost <b>{dollars(sum)}</b> in the {windowName()}; the
      dearest, <a href={linkTo("session", dearest.session ?? "")}>{nameIn(names, dearest)}</a>,{" "}
      <b>{dollars(toDollars(dearest.cost_usd))}</b>.
    </Say>
  );
}

const columnsFor = (names: Names): readonly Column<SessionRow>[] => [
  {
    name: "session",
    value: ({ session }) => session,
    isWords: true,
    show: (row) =>
      row.session === null ? (
        "deleted"
      ) : (
        <a href={linkTo("session", row.session)} title={row.session}>
          {nameIn(names, row)}
        </a>
      ),
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
