// Weight: which pieces of prompts cost most to carry from call to call.
import type { JSX } from "preact";
import type { ApiRoutes } from "../../../api/client/answers.ts";
import { counted, dollars, share, tokens } from "../../words/figures.ts";
import { client, useAnswer } from "../app/ask.ts";
import { Answered, Card, Empty, Notes, Say } from "../app/answered.tsx";
import { linkTo, place } from "../app/route.ts";
import { Table, type Column } from "../app/table.tsx";
import { Choice, chosenWindow, WindowChoice, windowName } from "./window.tsx";

type Row = ApiRoutes["weight"]["answer"]["data"][number];

const groups = [
  ["section", "section"],
  ["block", "single block"],
  ["kind", "kind"],
  ["tier", "tier"],
  ["role", "role"],
  ["session", "session"],
] as const;

export function Weight(): JSX.Element {
  const from = chosenWindow();
  const wanted = place.value.choices.get("group");
  const group = groups.find(([name]) => name === wanted)?.[0] ?? "section";
  const answer = useAnswer(
    (signal) => client.ask("weight", { query: { from, group_by: group, limit: 200 }, signal }),
    [from, group],
  );
  return (
    <>
      <Answered to={answer}>{({ data }) => <SayWeight rows={data} />}</Answered>
      <div class="choices">
        <WindowChoice />
        <Choice name="group" label="by" value={group} options={groups} />
      </div>
      <Card title="What was carried">
        <Answered to={answer}>
          {({ data, left_out_count: leftOut, notes }) =>
            data.length === 0 ? (
              <Empty>
                No blocks were seen in this time. They come from calls through the gateway.
              </Empty>
            ) : (
              <>
                <Table
                  label="weight"
                  rows={data}
                  columns={columnsFor(group, sumOf(data))}
                  file={`strata-weight-by-${group}.csv`}
                />
                <Notes of={[...notes, ...(leftOut > 0 ? [counted(leftOut, "more row")] : [])]} />
              </>
            )
          }
        </Answered>
      </Card>
    </>
  );
}

function sumOf(rows: readonly Row[]): number {
  return rows.reduce((sum, { cost_usd: usd }) => sum + Number(usd), 0);
}

function SayWeight({ rows }: { readonly rows: readonly Row[] }): JSX.Element {
  const [heaviest] = rows;
  if (heaviest === undefined) return <Say>Nothing was carried in the {windowName()}.</Say>;
  return (
    <Say note="Tokens × calls, at what they cost in each call: read, written or at the full price. What a call does not need may be cleared, shortened or loaded later.">
      Carrying prompts cost <b>{dollars(sumOf(rows))}</b> in the {windowName()}; the heaviest,{" "}
      <a href={linkTo("session", heaviest.session)}>{heaviest.group}</a>,{" "}
      <b>{dollars(Number(heaviest.cost_usd))}</b>: {counted(heaviest.carried_count, "time")} in a
      prompt.
    </Say>
  );
}

function columnsFor(group: string, whole: number): readonly Column<Row>[] {
  return [
    {
      name: group,
      value: (row) => row.group,
      isWords: true,
      show: (row) => (
        <a href={linkTo("session", row.session)}>{group === "block" ? row.section : row.group}</a>
      ),
    },
    {
      name: "dollars",
      value: (row) => Number(row.cost_usd),
      show: (row) => dollars(Number(row.cost_usd)),
    },
    {
      name: "share",
      value: (row) => Number(row.cost_usd),
      show: (row) => share(whole === 0 ? null : Number(row.cost_usd) / whole),
    },
    {
      name: "carried",
      value: (row) => row.carried_tokens,
      show: (row) => tokens(row.carried_tokens),
    },
    { name: "times", value: (row) => row.carried_count },
    { name: "different blocks", value: (row) => row.block_count },
  ];
}
