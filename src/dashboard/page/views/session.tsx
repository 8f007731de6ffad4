// One session: its cross-section, the chosen call, its breaks, and the sessions around it.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { promptTokensOf, type PicturedCall } from "../../picture/pictured-call.ts";
import { dollarsOf } from "../../picture/scene.ts";
import { toPictured, type AnsweredCall } from "../../picture/to-pictured.ts";
import { count, counted, dollars, span, tokens, toDollars } from "../../words/figures.ts";
import { describeMiss, describeSession } from "../../words/session-words.ts";
import { client, useAnswer } from "../app/ask.ts";
import { Answered, Card, Empty, Say } from "../app/answered.tsx";
import { choose, linkTo, place } from "../app/route.ts";
import { clock, moment } from "../app/times.ts";
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
  const wanted = Number(place.value.choices.get("call"));
  const at = calls.findIndex(({ number }) => number === wanted);
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
              <Call call={calls[chosen]} billed={answered[chosen]} before={calls[chosen - 1]} />
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
  const { cost, lost, unpricedCount } = describeSession(calls);
  const [first, last] = [calls[0], calls.at(-1)];
  const models = [...new Set(calls.map(({ model }) => model))].join(", ");
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

interface CallProps {
  readonly call: PicturedCall | undefined;
  readonly billed: AnsweredCall | undefined;
  readonly before: PicturedCall | undefined;
}

function Call({ call, billed, before }: CallProps): JSX.Element | null {
  if (call === undefined || billed === undefined) return null;
  const gapMs = before === undefined ? 0 : call.startMs - before.startMs;
  const written = Object.entries(billed.written_tokens);
  const pairs: readonly (readonly [string, string])[] = [
    ["prompt, by our count", tokens(promptTokensOf(call))],
    ["read", priced(billed.read_tokens, billed.dollars?.read_usd)],
    ...written.map(([lifetime, each]) => [`written for ${lifetime}`, tokens(each)] as const),
    ...(written.length === 0
      ? []
      : [["writing cost", dollars(toDollars(billed.dollars?.written_usd))] as const]),
    ["full price", priced(billed.uncached_tokens, billed.dollars?.uncached_usd)],
    ["output", priced(billed.output_tokens, billed.dollars?.output_usd)],
    ["cost", dollars(dollarsOf(call))],
    ["markers by", billed.policy],
    ...(before === undefined ? [] : [["after a pause of", span(gapMs)] as const]),
  ];
  return (
    <>
      <h2>
        Call {call.number} · {clock(call.startMs)} · {call.model}
      </h2>
      <dl class="pairs">
        {pairs.map(([name, value]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
      {call.miss && (
        <p>
          <b class="fault">{describeMiss(call, gapMs)}.</b>
          <br />
          <span class="note">{call.miss.advice}</span>
        </p>
      )}
      {call.markers.length > 0 && (
        <p class="note">
          Markers:{" "}
          {call.markers
            .map(
              ({ atTokens, lifetime, reason }) =>
                `${lifetime} at ${count(atTokens)}${reason === "" ? "" : ` (${reason})`}`,
            )
            .join("; ")}
        </p>
      )}
      <Added call={call} />
    </>
  );
}

function priced(amount: number, usd: string | undefined): string {
  return usd === undefined ? tokens(amount) : `${tokens(amount)} · ${dollars(Number(usd))}`;
}

function Added({ call }: { readonly call: PicturedCall }): JSX.Element | null {
  const shown = call.added.filter(({ section }) => section !== "");
  if (shown.length === 0) return null;
  return (
    <details>
      <summary>{counted(shown.length, "piece")} added</summary>
      <ul class="plain">
        {shown.map(({ section, tier, tokens: size }, index) => (
          <li key={index}>
            {tier} {section}: {tokens(size)}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Breaks({
  calls,
  onChoose,
}: {
  readonly calls: readonly PicturedCall[];
  readonly onChoose: (column: number) => void;
}): JSX.Element {
  const broken = calls
    .map((call, column) => ({
      call,
      column,
      gapMs: call.startMs - (calls[column - 1]?.startMs ?? call.startMs),
    }))
    .filter(({ call: { miss } }) => miss !== null && miss.lostTokens > 0)
    .toSorted(
      (left, right) => (right.call.miss?.lostDollars ?? 0) - (left.call.miss?.lostDollars ?? 0),
    );
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
