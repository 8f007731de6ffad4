// Misses: why prompts were paid for again, most dollars first.
import type { JSX } from "preact";
import { counted, dollars, tokens, toDollars } from "../../words/figures.ts";
import { client, useAnswer } from "../app/ask.ts";
import { Answered, Card, Empty, Say } from "../app/answered.tsx";
import { clauseOf } from "../../words/causes.ts";
import { linkTo, place } from "../app/route.ts";
import { labelOf, type MissRow } from "../app/rows.ts";
import { Table, type Column } from "../app/table.tsx";
import { Choice, chosenWindow, WindowChoice, windowName } from "./window.tsx";

const groups = [
  ["cause", "cause"],
  ["section", "section"],
  ["model", "model"],
  ["session", "session"],
  ["day", "day"],
] as const;

export function Misses(): JSX.Element {
  const wanted = place.value.choices.get("group");
  const group = groups.find(([name]) => name === wanted)?.[0] ?? "cause";
  const from = chosenWindow();
  const causes = useAnswer(
    (signal) =>
      client.ask("misses", {
        query: { from, group_by: "cause", order: "lost_cost_usd" },
        signal,
      }),
    [from],
  );
  const rows = useAnswer(
    (signal) =>
      client.ask("misses", {
        query: { from, group_by: group, order: "lost_cost_usd", limit: 1000 },
        signal,
      }),
    [from, group],
  );
  return (
    <>
      <Answered to={causes}>{({ data }) => <SayMisses rows={data} />}</Answered>
      <div class="choices">
        <WindowChoice />
        <Choice name="group" label="by" value={group} options={groups} />
      </div>
      <Card title="What broke the cache">
        <Answered to={rows}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty>No misses in this time.</Empty>
            ) : (
              <Table
                label="misses"
                rows={data}
                columns={columnsFor(group)}
                file={`strata-misses-by-${group}.csv`}
              />
            )
          }
        </Answered>
      </Card>
    </>
  );
}

function SayMisses({ rows }: { readonly rows: readonly MissRow[] }): JSX.Element {
  const worst = rows[0];
  if (worst === undefined) return <Say>Nothing was lost in the {windowName()}.</Say>;
  const lost = rows.reduce((sum, { lost_cost_usd: usd }) => sum + Number(usd), 0);
  const lostTokens = rows.reduce((sum, row) => sum + row.lost_tokens, 0);
  return (
    <Say>
      <b>{dollars(lost)}</b> was lost in the {windowName()}: {tokens(lostTokens)} that were in the
      cache before were paid for again. Most of it, <b>{dollars(Number(worst.lost_cost_usd))}</b>,
      because <b>{clauseOf(labelOf(worst, "cause"))}</b> ({counted(worst.miss_count, "time")}).
    </Say>
  );
}

function columnsFor(group: string): readonly Column<MissRow>[] {
  return [
    { name: group, value: (row) => labelOf(row, group), isWords: true },
    {
      name: "dollars lost",
      value: (row) => toDollars(row.lost_cost_usd),
      show: (row) => dollars(toDollars(row.lost_cost_usd)),
    },
    { name: "misses", value: (row) => row.miss_count },
    {
      name: "tokens lost",
      value: (row) => row.lost_tokens,
      show: (row) => tokens(row.lost_tokens),
    },
    { name: "sessions", value: (row) => row.session_count },
    {
      name: "worst one",
      value: (row) => row.costliest_block ?? row.costliest_detail,
      isWords: true,
      show: (row) => (
        <a href={linkTo("session", row.costliest_session)}>
          {[
            row.costliest_block,
            row.costliest_byte === null ? null : `byte ${row.costliest_byte}`,
            row.costliest_detail,
          ]
            .filter((each) => each !== null)
            .join(", ") || row.costliest_session}
        </a>
      ),
    },
  ];
}
