// One session: its cross-section, the chosen call, its breaks, and the sessions around it.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { PicturedCall } from "../../picture/pictured-call.ts";
import { toPictured, type AnsweredCall } from "../../picture/to-pictured.ts";
import { counted } from "../../words/figures.ts";
import { describeMiss, describeSession } from "../../words/session-words.ts";
import { client, useAnswer } from "../app/ask.ts";
import { Answered, Card, Empty, Say } from "../app/answered.tsx";
import { choose, linkTo, place } from "../app/route.ts";
import { clock, moment } from "../app/times.ts";
import { Call } from "./call.tsx";
import { CrossSection } from "../section/cross-section.tsx";

export function Session(): JSX.Element {
  const session = place.value.of ?? "";
  const picture = useAnswer(
    (signal) => client.ask("session_picture", { path: { session }, signal }),
    [session],
  );
  return (
    <Answered to={picture}>
      {({ data, left_out_count: leftOut }) => (
        <Picture
          key={data.session}
          agent={data.agent ?? data.session}
          name={data.session}
          answered={data.calls}
          around={[
            ...(data.parent_session === null ? [] : [["started by", data.parent_session] as const]),
            ...data.children.map((child) => ["started", child.session] as const),
          ]}
          leftOut={leftOut}
        />
      )}
    </Answered>
  );
}

interface PictureProps {
  readonly agent: string;
  readonly name: string;
  readonly answered: readonly AnsweredCall[];
  readonly around: readonly (readonly [how: string, session: string])[];
  readonly leftOut: number;
}

function Picture({ agent, name, answered, around, leftOut }: PictureProps): JSX.Element {
  const calls = useMemo(() => toPictured(answered), [answered]);
  // By its number here, or by its name as lists of calls have it.
  const wanted = place.value.choices.get("call");
  const at = answered.findIndex(({ call, number }) => call === wanted || String(number) === wanted);
  const chosen = at === -1 ? null : at;
  const onChoose = (column: number | null): void =>
    choose("call", column === null ? null : String(calls[column]?.number ?? ""));
  if (calls.length === 0) return <Say>This session has no calls yet.</Say>;
  return (
    <>
      <SaySession calls={calls} agent={agent} name={name} leftOut={leftOut} />
      <div class="two">
        <Card title="Cross-section: a column per call, the prompt from its first token (bottom) to its last (top)">
          <CrossSection calls={calls} chosen={chosen} onChoose={onChoose} />
        </Card>
        <div class="stack">
          <section class="card" id="chosen-call" aria-live="polite">
            {chosen === null ? (
              <Empty>
                Click a column, or use the arrow keys, for the figures of a call. With shift they go
                from miss to miss.
              </Empty>
            ) : (
              <Call
                session={name}
                call={calls[chosen]}
                billed={answered[chosen]}
                before={calls[chosen - 1]}
              />
            )}
          </section>
          <Card title="Breaks of this session">
            <Breaks calls={calls} onChoose={onChoose} />
          </Card>
          {around.length > 0 && (
            <Card title="Sub-agents">
              <ul class="plain">
                {around.map(([how, session]) => (
                  <li key={session}>
                    {how} <a href={linkTo("session", session)}>{session}</a>
                  </li>
                ))}
              </ul>
            </Card>
          )}
        </div>
      </div>
    </>
  );
}

function SaySession({
  calls,
  agent,
  name,
  leftOut,
}: Omit<PictureProps, "answered" | "around"> & {
  readonly calls: readonly PicturedCall[];
}): JSX.Element {
  const { cost, lost, unpricedCount } = useMemo(() => describeSession(calls), [calls]);
  const [first, last] = [calls[0], calls.at(-1)];
  const models = useMemo(() => [...new Set(calls.map(({ model }) => model))].join(", "), [calls]);
  const note = [
    agent,
    name,
    counted(calls.length, "call"),
    `${moment(first?.startMs ?? 0, Date.now())}–${clock(last?.startMs ?? 0)}`,
    models,
    ...(leftOut > 0 ? [`${counted(leftOut, "earlier call")} not shown`] : []),
    ...(unpricedCount > 0 ? [`${counted(unpricedCount, "call")} without a price`] : []),
  ];
  return (
    <Say note={note.join(" · ")}>
      This session cost <b>{cost}</b>.{" "}
      {lost === null ? (
        "Nothing was lost."
      ) : (
        <>
          <b>{lost.dollars}</b> of it was lost: {lost.causes}.
        </>
      )}
    </Say>
  );
}

function Breaks({
  calls,
  onChoose,
}: {
  readonly calls: readonly PicturedCall[];
  readonly onChoose: (column: number) => void;
}): JSX.Element {
  const broken = useMemo(() => findBreaks(calls), [calls]);
  if (broken.length === 0) return <Empty>None.</Empty>;
  return (
    <ul class="plain">
      {broken.slice(0, breaksMax).map(({ call, column, gapMs }) => (
        <li class="miss" key={column}>
          <button type="button" onClick={() => onChoose(column)}>
            call {call.number}
          </button>{" "}
          {describeMiss(call, gapMs)}
        </li>
      ))}
      {broken.length > breaksMax && (
        <li class="miss">{counted(broken.length - breaksMax, "more break")}</li>
      )}
    </ul>
  );
}

const breaksMax = 12;

interface Break {
  readonly call: PicturedCall;
  readonly column: number;
  readonly gapMs: number;
}

/** Most dollars first. */
function findBreaks(calls: readonly PicturedCall[]): readonly Break[] {
  return calls
    .map((call, column) => ({
      call,
      column,
      gapMs: call.startMs - (calls[column - 1]?.startMs ?? call.startMs),
    }))
    .filter(({ call: { miss } }) => miss !== null && miss.lostTokens > 0)
    .toSorted(
      (left, right) => (right.call.miss?.lostDollars ?? 0) - (left.call.miss?.lostDollars ?? 0),
    );
}
