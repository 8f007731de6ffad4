// Health: how the gateway itself is doing, as its health route says.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { count, span } from "../../words/figures.ts";
import { news } from "../app/ask.ts";
import { Card, Empty, Say } from "../app/answered.tsx";

type Health = Readonly<Record<string, unknown>>;

export function Health(): JSX.Element {
  const [health, setHealth] = useState<Health | null>(null);
  const [isAsked, setAsked] = useState(false);
  const seen = news.value;
  useEffect(() => {
    const left = new AbortController();
    void askHealth(left.signal).then((next) => {
      if (left.signal.aborted) return;
      setHealth(next);
      setAsked(true);
    });
    return () => left.abort();
  }, [seen]);
  if (!isAsked) return <p class="note">asking the gateway …</p>;
  if (health === null) {
    return (
      <>
        <Say>No gateway runs here: this server only answers questions about a ledger.</Say>
        <Empty>
          With <code>strata serve</code> this page shows its counts, faults and losses.
        </Empty>
      </>
    );
  }
  const faults = countIn(health, "observer", "faults") + countIn(health, "calls", "faults");
  const lost = countIn(health, "ledger", "lostCalls") + countIn(health, "ledger", "lost");
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
            <Card key={name} title={name}>
              <Pairs of={value} />
            </Card>
          ))}
      </div>
    </>
  );
}

/** Null where no gateway answers. */
async function askHealth(signal: AbortSignal): Promise<Health | null> {
  try {
    const response = await fetch("/strata/health", { signal });
    const value: unknown = response.ok ? await response.json() : null;
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

function Pairs({ of }: { readonly of: unknown }): JSX.Element {
  if (Array.isArray(of)) return <p>{of.map(textOf).join(", ")}</p>;
  return (
    <dl class="pairs">
      {Object.entries(of ?? {}).map(([name, value]) => (
        <>
          <dt key={name}>{name.replaceAll(/([A-Z])/g, " $1").toLowerCase()}</dt>
          <dd>{shown(name, value)}</dd>
        </>
      ))}
    </dl>
  );
}

function shown(name: string, value: unknown): string {
  if (typeof value !== "number") return textOf(value);
  return name.endsWith("Ms") && value < 1e11 ? span(value) : count(value);
}

function textOf(value: unknown): string {
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
