// The breaks of a session, most dollars first, each with what would have avoided it.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { PicturedCall } from "../../picture/pictured-call.ts";
import { counted } from "../../words/figures.ts";
import { describeMiss } from "../../words/session-words.ts";
import { Empty } from "../app/answered.tsx";

export function Breaks({
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
          {call.miss !== null && <span class="advice"> {call.miss.advice}</span>}
          {call.miss?.excerpt !== undefined && <q class="excerpt">{call.miss.excerpt}</q>}
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
