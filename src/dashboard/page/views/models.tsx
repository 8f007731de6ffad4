// Models: the prices and cache rules in force, with the day on which each was checked.
import type { JSX } from "preact";
import type { ApiRoutes } from "../../../api/client/answers.ts";
import { count, counted } from "../../words/figures.ts";
import { client, useAnswer } from "../app/ask.ts";
import { Answered, Card, Empty, Say } from "../app/answered.tsx";
import { Table, type Column } from "../app/table.tsx";
import { Find, isFound } from "./window.tsx";

type Row = ApiRoutes["models"]["answer"]["data"][number];

export function Models(): JSX.Element {
  const answer = useAnswer((signal) => client.ask("models", { signal }), []);
  return (
    <Answered to={answer}>
      {({ data, current_pricing_version: checkedOn }) => {
        const found = data.filter((row) => isFound([row.model, row.provider, ...row.aliases]));
        return (
          <>
            <Say note="Dollars per million tokens. A price of your own goes into strata.yaml.">
              {counted(data.length, "model")} are known; prices were last checked on{" "}
              <b>{checkedOn}</b>.
            </Say>
            <div class="choices">
              <Find />
            </div>
            <Card title={counted(found.length, "model")}>
              {found.length === 0 ? (
                <Empty>No model has these words.</Empty>
              ) : (
                <Table label="models" rows={found} columns={columns} file="strata-models.csv" />
              )}
            </Card>
          </>
        );
      }}
    </Answered>
  );
}

function priceOf(usd: string | null | undefined): number | null {
  return usd === null || usd === undefined ? null : Number(usd);
}

function shown(usd: number | null): string {
  return usd === null ? "–" : `$${usd}`;
}

/** Short lifetimes first, as 5m 2.5, 1h 4. */
function writing({ prices }: Row): string {
  const written = Object.entries(prices?.write_usd ?? {});
  return written.map(([lifetime, usd]) => `${lifetime} ${shown(priceOf(usd))}`).join(", ");
}

const columns: readonly Column<Row>[] = [
  { name: "model", value: ({ model }) => model, isWords: true },
  { name: "provider", value: ({ provider }) => provider, isWords: true },
  {
    name: "input",
    value: ({ prices }) => priceOf(prices?.input_usd),
    show: ({ prices }) => shown(priceOf(prices?.input_usd)),
  },
  {
    name: "read",
    value: ({ prices }) => priceOf(prices?.read_usd),
    show: ({ prices }) => shown(priceOf(prices?.read_usd)),
  },
  { name: "write", value: writing, isWords: true },
  {
    name: "output",
    value: ({ prices }) => priceOf(prices?.output_usd),
    show: ({ prices }) => shown(priceOf(prices?.output_usd)),
  },
  { name: "window", value: (row) => row.window_tokens, show: (row) => count(row.window_tokens) },
  {
    name: "kept from",
    value: ({ cache }) => cache.minimum_tokens,
    show: ({ cache }) => (cache.minimum_tokens === null ? "–" : count(cache.minimum_tokens)),
  },
  { name: "status", value: ({ status }) => status, isWords: true },
  { name: "checked", value: (row) => row.checked_on },
];
