// One session: its cross-section, the chosen call, its breaks, and the sessions around it.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { toPictured } from "../../picture/to-pictured.ts";
import { counted, dollars } from "../../words/figures.ts";
import { nameChild, nameSession } from "../../words/names.ts";
import { client, useAnswer } from "../app/ask.ts";
import { Answered, Card, Empty, Say } from "../app/answered.tsx";
import { choose, go, linkTo, place } from "../app/route.ts";
import type { Pictured } from "../app/rows.ts";
import { CrossSection } from "../section/cross-section.tsx";
import { Breaks } from "./breaks.tsx";
import { Call } from "./call.tsx";
import { Heavy } from "./heavy.tsx";
import { SaySession } from "./say-session.tsx";
import { SessionTabs } from "./session-tabs.tsx";
import { toVein } from "./to-vein.ts";

export function Session(): JSX.Element {
  const session = place.value.of ?? "";
  const picture = useAnswer(
    (signal) => client.ask("session_picture", { path: { session }, signal }),
    [session],
  );
  return (
    <Answered to={picture}>
      {({ data, left_out_count: leftOut }) => (
        <Picture key={data.session} of={data} leftOut={leftOut} />
      )}
    </Answered>
  );
}

function Picture({
  of,
  leftOut,
}: {
  readonly of: Pictured;
  readonly leftOut: number;
}): JSX.Element {
  const { session, calls: answered, children } = of;
  const calls = useMemo(() => toPictured(answered), [answered]);
  const veins = useMemo(() => children.map(toVein), [children]);
  // By its number here, or by its name as lists of calls have it.
  const wanted = place.value.choices.get("call");
  const at = answered.findIndex(({ call, number }) => call === wanted || String(number) === wanted);
  const chosen = at === -1 ? null : at;
  const onChoose = (column: number | null): void =>
    choose("call", column === null ? null : String(calls[column]?.number ?? ""));
  if (calls.length === 0) {
    return <Say note={nameSession(of)}>This session has no calls yet.</Say>;
  }
  return (
    <>
      <SaySession of={of} calls={calls} leftOut={leftOut} />
      <SessionTabs session={session} view="session" />
      <div class="two">
        <div class="stack">
          <Card title="Cross-section: a column per call, the prompt from its first token (bottom) to its last (top)">
            <CrossSection
              calls={calls}
              chosen={chosen}
              onChoose={onChoose}
              veins={veins}
              onOpen={(child) => go(linkTo("session", child))}
              compared={of.compared?.policy ?? null}
              scale={place.value.choices.get("scale") === "time" ? "time" : "calls"}
              onScale={(scale) => choose("scale", scale === "calls" ? null : scale)}
            />
          </Card>
          <Card title="Carried longest">
            <Heavy calls={calls} />
          </Card>
        </div>
        <div class="stack">
          <section class="card" id="chosen-call" aria-live="polite">
            {chosen === null ? (
              <Empty>
                Click a column, or use the arrow keys, for the figures of a call. With shift they go
                from miss to miss.
              </Empty>
            ) : (
              <Call
                session={session}
                call={calls[chosen]}
                billed={answered[chosen]}
                before={calls[chosen - 1]}
              />
            )}
          </section>
          <Card title="Breaks of this session">
            <Breaks calls={calls} onChoose={onChoose} />
          </Card>
          <Around of={of} />
        </div>
      </div>
    </>
  );
}

/** Who started it, and what it started. */
function Around({ of }: { readonly of: Pictured }): JSX.Element | null {
  const { parent_session: parent, children } = of;
  if (parent === null && children.length === 0) return null;
  return (
    <Card title="Sub-agents">
      <ul class="plain">
        {parent !== null && (
          <li>
            started by <a href={linkTo("session", parent)}>another session</a>
          </li>
        )}
        {children.map((child) => (
          <li key={child.session}>
            <a href={linkTo("session", child.session)}>{nameChild(child)}</a>{" "}
            <span class="soft">{describeChild(child)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function describeChild({
  call_count: calls,
  cost_usd: cost,
  model,
}: Pictured["children"][number]): string {
  return `${counted(calls, "call")}, ${dollars(Number(cost))}, ${model}`;
}
