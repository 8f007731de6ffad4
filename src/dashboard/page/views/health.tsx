// Health: how the gateway itself is doing, as its health route says.
import { Fragment, type JSX } from "preact";
import { count, span } from "../../words/figures.ts";
import { client, useAnswer } from "../app/ask.ts";
import { Answered, Card, Empty, Say } from "../app/answered.tsx";

type Health = Readonly<Record<string, unknown>>;

export function Health(): JSX.Element {
  const answer = useAnswer((signal) => client.ask("health", { signal }), []);
  return <Answered to={answer}>{({ data }) => <Told health={{ ...data }} />}</Answered>;
}

function Told({ health }: { readonly health: Health }): JSX.Element {
  if (health["exchanges"] === undefined) {
    return (
      <>
        <Say note={`version ${textOf(health["version"])}`}>
          No gateway runs here: this server only answers questions about a ledger
          {health["ledger_readable"] === true ? ", and it can be read" : ", which cannot be read"}.
        </Say>
        <Empty>
          With <code>strata serve</code> this page shows its counts, faults and losses.
        </Empty>
      </>
    );
  }
  const faults = countIn(health, "observer", "faults") + countIn(health, "calls", "faults");
  const lost = countIn(health, "ledger", "lostCount");
  return (
    <>
      <Say note={`version ${textOf(health["version"])}`}>
        {faults + lost === 0 ? (
          <>The gateway is well: it made no mistake, and no call was lost.</>
        ) : (
          <>
            The gateway counted <b class="fault">{count(faults)}</b> mistakes of its own and lost{" "}
            <b class="fault">{count(lost)}</b> calls. Its standard error says more.
          </>
        )}
      </Say>
      <div class="grid">
        {Object.entries(health)
          .filter(([, value]) => typeof value === "object" && value !== null)
          .map(([name, value]) => (
            <Card key={name} title={titles.get(name) ?? name}>
              <Pairs of={value} />
            </Card>
          ))}
      </div>
    </>
  );
}

/** What the parts are, for people. */
const titles: ReadonlyMap<string, string> = new Map([
  ["upstreams", "Providers it forwards to"],
  ["exchanges", "Exchanges"],
  ["observer", "Watching beside the traffic"],
  ["calls", "Conversations it remembers"],
  ["ledger", "Recording"],
  ["shared", "Conversations from the ledger"],
]);

function Pairs({ of }: { readonly of: unknown }): JSX.Element {
  if (Array.isArray(of)) return <p>{of.map(textOf).join(", ")}</p>;
  return (
    <dl class="pairs">
      {Object.entries(of ?? {}).map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name.replaceAll(/([A-Z])/g, " $1").toLowerCase()}</dt>
          <dd>{shown(name, value)}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

function shown(name: string, value: unknown): string {
  if (typeof value !== "number") return textOf(value);
  return name.endsWith("Ms") && value < 1e11 ? span(value) : count(value);
}

function textOf(value: unknown): string {
  if (typeof value === "object" && value !== null) {
    const parts = Object.entries(value).map(([name, each]) => `${name} ${textOf(each)}`);
    return parts.length === 0 ? "–" : parts.join(", ");
  }
  if (typeof value === "string" || typeof value === "boolean") return String(value);
  if (typeof value === "number") return count(value);
  return value === null || value === undefined ? "–" : JSON.stringify(value);
}

function countIn(health: Health, part: string, name: string): number {
  const within: unknown = health[part];
  const value: unknown =
    typeof within === "object" && within !== null
      ? Object.entries(within).find(([each]) => each === name)?.[1]
      : undefined;
  return typeof value === "number" ? value : 0;
}
