// Context: what fills the window of one session at its latest call, what is left, and how it was compacted.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { ApiRoutes } from "../../../api/client/answers.ts";
import { fillWindow, type WindowPart } from "../../picture/fill-window.ts";
import { promptTokensOf, type PicturedCall } from "../../picture/pictured-call.ts";
import { toScene } from "../../picture/scene.ts";
import { toPictured } from "../../picture/to-pictured.ts";
import { count, counted, share, short, tokens } from "../../words/figures.ts";
import { nameSession } from "../../words/names.ts";
import { client, useAnswer } from "../app/ask.ts";
import { Answered, Card, Empty, Say } from "../app/answered.tsx";
import { linkTo, place } from "../app/route.ts";
import type { Pictured } from "../app/rows.ts";
import { Table, type Column } from "../app/table.tsx";
import { moment } from "../app/times.ts";
import { Heavy } from "./heavy.tsx";
import { SessionTabs } from "./session-tabs.tsx";

type SessionFacts = ApiRoutes["session"]["answer"]["data"];

export function Context(): JSX.Element {
  const session = place.value.of ?? "";
  const picture = useAnswer(
    (signal) => client.ask("session_picture", { path: { session }, signal }),
    [session],
  );
  const facts = useAnswer(
    (signal) => client.ask("session", { path: { session }, signal }),
    [session],
  );
  return (
    <Answered to={picture}>
      {({ data }) => (
        <Answered to={facts}>{({ data: known }) => <Filled of={data} facts={known} />}</Answered>
      )}
    </Answered>
  );
}

function Filled({
  of,
  facts,
}: {
  readonly of: Pictured;
  readonly facts: SessionFacts;
}): JSX.Element {
  const calls = useMemo(() => toPictured(of.calls), [of]);
  const parts = useMemo(() => fillWindow(toScene(calls, "calls"), calls.length - 1), [calls]);
  const last = calls.at(-1);
  if (last === undefined) return <Say note={nameSession(of)}>This session has no calls yet.</Say>;
  const used = promptTokensOf(last);
  const window = facts.window_tokens;
  const [largest] = parts.toSorted((left, right) => right.tokens - left.tokens);
  return (
    <>
      <Say
        note={
          <>
            <b>{nameSession(of)}</b> · call {last.number} · {last.model}
            {facts.compaction_count > 0 && <> · {counted(facts.compaction_count, "compaction")}</>}
          </>
        }
      >
        The window holds <b>{tokens(used)}</b>
        {window === null ? "" : `, ${share(used / window)} of ${count(window)}`}.{" "}
        {largest !== undefined && (
          <>
            Most of it is <b>{largest.name}</b>: {tokens(largest.tokens)}.
          </>
        )}
      </Say>
      <SessionTabs session={of.session} view="context" />
      <Card title="What fills the window, in the order of the wire">
        <Bar parts={parts} window={window ?? used} />
        <Table
          label="parts of the window"
          rows={parts}
          columns={columnsFor(used)}
          file="strata-context.csv"
        />
      </Card>
      <div class="grid">
        <Card title="Carried longest: what to clear, shorten or load later">
          <Heavy calls={calls} />
        </Card>
        <Card title="Compactions">
          <Compactions calls={calls} />
        </Card>
      </div>
    </>
  );
}

const shades = ["t0", "t1", "t2", "t3", "heavy", "t4"] as const;

function shadeOf({ tier }: WindowPart, index: number): string {
  if (tier < "T3") return tier.toLowerCase();
  return shades[3 + (index % 3)] ?? "t3";
}

/** Of the whole window: what is left is empty. */
function Bar({
  parts,
  window,
}: {
  readonly parts: readonly WindowPart[];
  readonly window: number;
}): JSX.Element {
  const used = parts.reduce((sum, part) => sum + part.tokens, 0);
  const label = parts.map(({ name, tokens: size }) => `${name} ${share(size / window)}`);
  return (
    <div class="split tall" role="img" aria-label={label.join(", ")}>
      {parts.map((part, index) => (
        <i
          key={`${part.tier} ${part.name}`}
          class={`sw ${shadeOf(part, index)}`}
          style={{ flexGrow: part.tokens }}
          title={`${part.name}: ${tokens(part.tokens)}`}
        />
      ))}
      <i
        class="sw free"
        style={{ flexGrow: Math.max(0, window - used) }}
        title={`free: ${tokens(Math.max(0, window - used))}`}
      />
    </div>
  );
}

function columnsFor(used: number): readonly Column<WindowPart>[] {
  return [
    { name: "part", value: ({ name }) => name, isWords: true },
    { name: "tier", value: ({ tier }) => tier },
    { name: "tokens", value: (row) => row.tokens, show: (row) => tokens(row.tokens) },
    {
      name: "share",
      value: (row) => row.tokens,
      show: (row) => share(used === 0 ? null : row.tokens / used),
    },
    { name: "pieces", value: (row) => row.pieceCount, show: (row) => count(row.pieceCount) },
  ];
}

function Compactions({ calls }: { readonly calls: readonly PicturedCall[] }): JSX.Element {
  const folds = calls.flatMap((call, at) => {
    const before = calls[at - 1];
    return call.isCompacted && before !== undefined ? [{ call, before }] : [];
  });
  if (folds.length === 0) return <Empty>Its history was never replaced by notes.</Empty>;
  return (
    <ul class="plain">
      {folds.map(({ call, before }) => (
        <li class="miss" key={call.number}>
          <a href={linkTo("session", place.value.of, { call: String(call.number) })}>
            call {call.number}
          </a>{" "}
          <span>
            {moment(call.startMs, Date.now())}: {short(promptTokensOf(before))} →{" "}
            {short(promptTokensOf(call))} tokens
          </span>
        </li>
      ))}
    </ul>
  );
}
