// The sentence about a session: what it cost, what was lost, why, and what to do.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { PicturedCall } from "../../picture/pictured-call.ts";
import { counted, dollars, share } from "../../words/figures.ts";
import { nameSession } from "../../words/names.ts";
import { describeSession } from "../../words/session-words.ts";
import { Say } from "../app/answered.tsx";
import type { Pictured } from "../app/rows.ts";
import { clock, moment } from "../app/times.ts";

export function SaySession({
  of,
  calls,
  leftOut,
}: {
  readonly of: Pictured;
  readonly calls: readonly PicturedCall[];
  readonly leftOut: number;
}): JSX.Element {
  const { cost, withoutCache, lost, unpricedCount } = useMemo(
    () => describeSession(calls),
    [calls],
  );
  const models = useMemo(() => [...new Set(calls.map(({ model }) => model))].join(", "), [calls]);
  const [first, last] = [calls[0], calls.at(-1)];
  const { agent, compared } = of;
  const name = nameSession(of);
  const facts = [
    ...(agent === null || name.startsWith(agent) ? [] : [agent]),
    counted(calls.length, "call"),
    `${moment(first?.startMs ?? 0, Date.now())}–${clock(last?.startMs ?? 0)}`,
    models,
    ...(leftOut > 0 ? [`${counted(leftOut, "earlier call")} not shown`] : []),
    ...(unpricedCount > 0 ? [`${counted(unpricedCount, "call")} without a price`] : []),
  ];
  return (
    <Say
      note={
        <>
          <b>{name}</b> · {facts.join(" · ")}
          {compared !== null && <Compared {...compared} />}
        </>
      }
    >
      This session cost <b>{cost}</b>.{" "}
      {withoutCache !== null && <>Without a cache it would have cost {withoutCache}. </>}
      {lost === null ? (
        "Nothing was lost."
      ) : (
        <>
          <b>{lost.dollars}</b> of it was lost to {lost.breaks}:{" "}
          {lost.causes.map((cause, index) => (
            <>
              {index === 0 ? "" : index === lost.causes.length - 1 ? " and " : ", "}
              <b>{cause}</b>
            </>
          ))}
          . {lost.advice}
        </>
      )}
    </Say>
  );
}

function Compared({
  policy,
  cost_usd: cost,
  paid_usd: paid,
}: {
  readonly policy: string;
  readonly cost_usd: string;
  readonly paid_usd: string;
}): JSX.Element {
  const change = Number(paid) === 0 ? 0 : Number(cost) / Number(paid) - 1;
  return (
    <>
      {" "}
      · with {policy} the same calls would have cost {dollars(Number(cost))}{" "}
      <span class={change < 0 ? "good" : undefined}>
        ({change > 0 ? "+" : "−"}
        {share(Math.abs(change))})
      </span>
    </>
  );
}
