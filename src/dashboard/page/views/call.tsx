// The chosen call: its exact bill, why it missed, what it could have cost, and its whole prompt.
import { Fragment, type JSX } from "preact";
import type { ApiRoutes } from "../../../api/client/answers.ts";
import { promptTokensOf, type PicturedCall } from "../../picture/pictured-call.ts";
import { dollarsOf } from "../../picture/scene.ts";
import type { AnsweredCall } from "../../picture/to-pictured.ts";
import { count, counted, dollars, span, tokens, toDollars } from "../../words/figures.ts";
import { describeMiss } from "../../words/session-words.ts";
import { client, useAnswer, useSettled } from "../app/ask.ts";
import { Table, type Column } from "../app/table.tsx";
import { clock } from "../app/times.ts";

type CallDetail = ApiRoutes["call"]["answer"]["data"];

interface CallProps {
  readonly session: string;
  readonly call: PicturedCall | undefined;
  readonly billed: AnsweredCall | undefined;
  readonly before: PicturedCall | undefined;
}

export function Call({ session, call, billed, before }: CallProps): JSX.Element | null {
  const shown = billed?.call ?? "";
  const name = useSettled(shown);
  const detail = useAnswer(
    (signal) => client.ask("call", { path: { session, call: name }, signal }),
    [session, name],
  );
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
        {pairs.map(([title, value]) => (
          <Fragment key={title}>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </Fragment>
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
      {name === shown && detail.kind === "answer" && <Whole of={detail.answer.data} />}
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

/** What the plan expected, what other policies would have paid, and the whole prompt. */
function Whole({ of }: { readonly of: CallDetail }): JSX.Element {
  const { blocks, other_policies: others, expected_read_tokens: expected, notes } = of;
  const facts: readonly (readonly [string, string])[] = [
    ...(expected === null ? [] : [["expected to read", tokens(expected)] as const]),
    ...(of.plain_cost_usd === null
      ? []
      : [["without a cache", dollars(toDollars(of.plain_cost_usd))] as const]),
    ...(of.client_cost_usd === null
      ? []
      : [["with the client's markers", dollars(toDollars(of.client_cost_usd))] as const]),
    ...others.map(
      ({ policy, cost_usd: usd }) => [`under ${policy}`, dollars(toDollars(usd))] as const,
    ),
    ["answered in", span(of.latency_ms)],
  ];
  return (
    <>
      <h2>What it could have been</h2>
      <dl class="pairs">
        {facts.map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
      {notes.length > 0 && <p class="note">{notes.join("; ")}</p>}
      <details>
        <summary>the whole prompt: {counted(blocks.length, "block")}</summary>
        <Table
          label="blocks of the prompt"
          rows={blocks.slice(0, blocksMax)}
          columns={blockColumns}
          file="strata-prompt.csv"
        />
        {blocks.length > blocksMax && (
          <p class="note">{counted(blocks.length - blocksMax, "more block")}</p>
        )}
      </details>
    </>
  );
}

const blocksMax = 500;

const blockColumns: readonly Column<CallDetail["blocks"][number]>[] = [
  { name: "block", value: ({ section }) => section, isWords: true },
  { name: "tier", value: ({ tier }) => tier },
  { name: "tokens", value: ({ tokens: size }) => size, show: ({ tokens: size }) => count(size) },
  { name: "read", value: (row) => row.read_tokens, show: (row) => count(row.read_tokens) },
  { name: "written", value: (row) => row.written_tokens, show: (row) => count(row.written_tokens) },
  { name: "full price", value: (row) => row.fresh_tokens, show: (row) => count(row.fresh_tokens) },
];
