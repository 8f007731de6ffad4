// `strata inspect --html`: one session with its cross-section, and its sub-agents behind their veins.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { InspectedFile } from "../../file/file-data.ts";
import { toPictured } from "../../picture/to-pictured.ts";
import { nameSession } from "../../words/names.ts";
import { Card, Empty, Say } from "../app/answered.tsx";
import { choose, go, linkTo, place } from "../app/route.ts";
import { CrossSection } from "../section/cross-section.tsx";
import { Breaks } from "../views/breaks.tsx";
import { CallCard } from "../views/call.tsx";
import { Heavy } from "../views/heavy.tsx";
import { SaySession } from "../views/say-session.tsx";
import { toVein } from "../views/to-vein.ts";

export function Inspected({ of }: { readonly of: InspectedFile }): JSX.Element {
  const [first] = of.sessions;
  const wanted = place.value.view === "session" ? place.value.of : null;
  const shown = of.sessions.find(({ session }) => session === wanted) ?? first;
  if (shown === undefined) return <Say>There is no session in this file.</Say>;
  return (
    <>
      {shown !== first && first !== undefined && (
        <p>
          <a href={linkTo("session", first.session)}>← {nameSession(first)}</a>
        </p>
      )}
      <OneSession
        key={shown.session}
        of={shown}
        file={of}
        leftOut={shown === first ? of.leftOutCount : 0}
      />
    </>
  );
}

interface OneSessionProps {
  readonly of: InspectedFile["sessions"][number];
  readonly file: InspectedFile;
  readonly leftOut: number;
}

function OneSession({ of, file, leftOut }: OneSessionProps): JSX.Element {
  const calls = useMemo(() => toPictured(of.calls), [of]);
  const veins = useMemo(() => of.children.map(toVein), [of]);
  const wanted = place.value.choices.get("call");
  const at = of.calls.findIndex(({ number }) => String(number) === wanted);
  const [call, billed] = [calls[at], of.calls[at]];
  const onChoose = (column: number | null): void =>
    choose("call", column === null ? null : String(calls[column]?.number ?? ""));
  const open = (session: string): void => {
    if (file.sessions.some((each) => each.session === session)) go(linkTo("session", session));
  };
  if (calls.length === 0) return <Say note={nameSession(of)}>This session has no calls.</Say>;
  return (
    <>
      <SaySession of={of} calls={calls} leftOut={leftOut} />
      <div class="two">
        <div class="stack">
          <Card title="Cross-section: a column per call, the prompt from its first token (bottom) to its last (top)">
            <CrossSection
              calls={calls}
              chosen={at === -1 ? null : at}
              onChoose={onChoose}
              veins={veins}
              onOpen={open}
              compared={of.compared?.policy ?? null}
            />
          </Card>
          <Card title="Carried longest">
            <Heavy calls={calls} />
          </Card>
        </div>
        <div class="stack">
          <section class="card" id="chosen-call" aria-live="polite">
            {call === undefined || billed === undefined ? (
              <Empty>
                Click a column, or use the arrow keys, for the figures of a call. With shift they go
                from miss to miss.
              </Empty>
            ) : (
              <CallCard
                call={call}
                billed={billed}
                before={calls[at - 1]}
                detail={file.details[`${of.session}/${billed.call}`] ?? null}
              />
            )}
          </section>
          <Card title="Breaks of this session">
            <Breaks calls={calls} onChoose={onChoose} />
          </Card>
        </div>
      </div>
    </>
  );
}
