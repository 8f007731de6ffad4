// Policies: what each way to place markers would have cost on what was seen here.
import type { JSX } from "preact";
import type { ApiRoutes } from "../../../api/client/answers.ts";
import { counted, dollars, share } from "../../words/figures.ts";
import { client, useAnswer } from "../app/ask.ts";
import { Answered, Card, Empty, Notes, Say } from "../app/answered.tsx";
import { Table, type Column } from "../app/table.tsx";
import { chosenWindow, WindowChoice, windowName } from "./window.tsx";

type Row = ApiRoutes["policies"]["answer"]["data"][number];

export function Policies(): JSX.Element {
  const from = chosenWindow();
  const answer = useAnswer((signal) => client.ask("policies", { query: { from }, signal }), [from]);
  return (
    <>
      <Answered to={answer}>{({ data }) => <SayPolicies rows={data} />}</Answered>
      <div class="choices">
        <WindowChoice />
      </div>
      <Card title="The same calls under other policies">
        <Answered to={answer}>
          {({ data, uncompared_call_count: uncompared, notes }) =>
            data.length === 0 ? (
              <Empty>
                Nothing to compare in this time. The gateway keeps this account of every call that
                it sees.
              </Empty>
            ) : (
              <>
                <Table label="policies" rows={data} columns={columns} file="strata-policies.csv" />
                <Notes
                  of={[
                    ...notes,
                    ...(uncompared > 0
                      ? [`${counted(uncompared, "call")} without an account`]
                      : []),
                  ]}
                />
              </>
            )
          }
        </Answered>
      </Card>
    </>
  );
}

function SayPolicies({ rows }: { readonly rows: readonly Row[] }): JSX.Element {
  const cheapest = rows.toSorted(
    (left, right) => Number(left.saved_usd) - Number(right.saved_usd),
  )[0];
  if (cheapest === undefined) return <Say>Nothing to compare in the {windowName()}.</Say>;
  const { policy, cost_usd: cost, paid_usd: paid } = cheapest;
  const isCheaper = Number(cost) < Number(paid);
  return (
    <Say note="By an account that the gateway keeps of each conversation: what the same prompts would have cost at the same times.">
      {isCheaper ? (
        <>
          <b>{policy}</b> would have cost <b>{dollars(Number(cost))}</b> where{" "}
          {dollars(Number(paid))} was paid in the {windowName()}.
        </>
      ) : (
        <>
          No policy that is compared would have cost less than the {dollars(Number(paid))} that was
          paid in the {windowName()}.
        </>
      )}
    </Say>
  );
}

const columns: readonly Column<Row>[] = [
  { name: "policy", value: ({ policy }) => policy, isWords: true },
  {
    name: "would have cost",
    value: (row) => Number(row.cost_usd),
    show: (row) => dollars(Number(row.cost_usd)),
  },
  {
    name: "was paid",
    value: (row) => Number(row.paid_usd),
    show: (row) => dollars(Number(row.paid_usd)),
  },
  {
    name: "against what was paid",
    value: (row) => Number(row.cost_usd) - Number(row.paid_usd),
    show: (row) => {
      const paid = Number(row.paid_usd);
      const more = paid === 0 ? null : Number(row.cost_usd) / paid - 1;
      const isMore = (more ?? 0) > 0;
      return (
        <span class={isMore ? "fault" : "good"}>
          {isMore ? "+" : ""}
          {share(more)}
        </span>
      );
    },
  },
  { name: "calls", value: (row) => row.call_count },
];
