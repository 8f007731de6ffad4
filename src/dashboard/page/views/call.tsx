// The chosen call: its exact bill, why it missed, what it could have cost, and its whole prompt.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ApiRoutes } from "../../../api/client/answers.ts";
import { promptTokensOf, type PicturedCall } from "../../picture/pictured-call.ts";
import { dollarsOf } from "../../picture/scene.ts";
import type { AnsweredCall } from "../../picture/to-pictured.ts";
import { count, counted, dollars, share, span, tokens, toDollars } from "../../words/figures.ts";
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

/** Asks for what the picture does not have. */
export function Call({ session, call, billed, before }: CallProps): JSX.Element | null {
  const shown = billed?.call ?? "";
  const name = useSettled(shown);
  const asked = useAnswer(
    (signal) => client.ask("call", { path: { session, call: name }, signal }),
    [session, name],
  );
  if (call === undefined || billed === undefined) return null;
  const detail = name === shown && asked.kind === "answer" ? asked.answer.data : null;
  return <CallCard call={call} billed={billed} before={before} detail={detail} />;
}

interface CallCardProps {
  readonly call: PicturedCall;
  readonly billed: AnsweredCall;
  readonly before: PicturedCall | undefined;
  readonly detail: CallDetail | null;
}

export function CallCard({ call, billed, before, detail }: CallCardProps): JSX.Element {
  const gapMs = before === undefined ? 0 : call.startMs - before.startMs;
  return (
    <>
      <h2>
        Call {call.number} · {clock(call.startMs)} · {call.model}
      </h2>
      <Split billed={billed} />
      <Bill call={call} billed={billed} expected={detail?.expected_read_tokens ?? null} />
      {call.miss && (
        <p class="why">
          <b class="fault">{describeMiss(call, gapMs)}.</b>{" "}
          <span class="soft">{call.miss.advice}</span>
        </p>
      )}
      <p class="note">
        {before === undefined ? "the first call" : `after a pause of ${span(gapMs)}`}, markers by{" "}
        {billed.policy}
        {call.markers.map(
          ({ atTokens, lifetime, reason }) =>
            `; ${lifetime} at ${count(atTokens)}${reason === "" ? "" : `: ${reason}`}`,
        )}
      </p>
      {detail !== null && <Others of={detail} paid={dollarsOf(call)} />}
      <Added call={call} />
      {detail !== null && <Whole of={detail} />}
    </>
  );
}

const parts = [
  ["read", "t3"],
  ["written", "w5"],
  ["full price", "fresh"],
] as const;

/** The prompt as one bar: read, written, full price. */
function Split({ billed }: { readonly billed: AnsweredCall }): JSX.Element {
  const written = Object.values(billed.written_tokens).reduce((sum, each) => sum + each, 0);
  const sizes = [billed.read_tokens, written, billed.uncached_tokens];
  const whole = sizes.reduce((sum, each) => sum + each, 0);
  const label = parts.map(
    ([name], index) => `${name} ${share((sizes[index] ?? 0) / (whole || 1))}`,
  );
  return (
    <div class="split" role="img" aria-label={label.join(", ")}>
      {parts.map(([name, colour], index) => (
        <i key={name} class={`sw ${colour}`} style={{ flexGrow: sizes[index] ?? 0 }} />
      ))}
    </div>
  );
}

interface BillProps {
  readonly call: PicturedCall;
  readonly billed: AnsweredCall;
  readonly expected: number | null;
}

function Bill({ call, billed, expected }: BillProps): JSX.Element {
  const { dollars: paid } = billed;
  const isLess = expected !== null && billed.read_tokens < expected;
  const written = Object.entries(billed.written_tokens);
  const rows: readonly (readonly [string, string, string | undefined, boolean?])[] = [
    ["prompt", tokens(promptTokensOf(call)), undefined],
    ...(expected === null ? [] : [["expected to read", tokens(expected), undefined] as const]),
    ["read", tokens(billed.read_tokens), paid?.read_usd, isLess],
    ...written.map(
      ([lifetime, each], index) =>
        [
          `written for ${lifetime}`,
          tokens(each),
          index === 0 ? paid?.written_usd : undefined,
        ] as const,
    ),
    ["full price", tokens(billed.uncached_tokens), paid?.uncached_usd],
    ["output", tokens(billed.output_tokens), paid?.output_usd],
  ];
  return (
    <table class="bill">
      <tbody>
        {rows.map(([name, amount, usd, isBad]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class={isBad === true ? "fault" : undefined}>{amount}</td>
            <td>{usd === undefined ? "" : dollars(Number(usd))}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">cost</th>
          <td />
          <td>
            <b>{dollars(dollarsOf(call))}</b>
          </td>
        </tr>
      </tbody>
    </table>
  );
}

function Added({ call }: { readonly call: PicturedCall }): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const shown = call.added.filter(({ section }) => section !== "");
  if (shown.length === 0) return null;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{counted(shown.length, "piece")} added</summary>
      {isOpen && (
        <ul class="plain">
          {shown.map(({ section, tier, tokens: size }, index) => (
            <li key={index}>
              {tier} {section}: {tokens(size)}
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}

/** What was paid beside what other ways to place markers would have paid for this call, the cheapest first. */
function Others({
  of,
  paid,
}: {
  readonly of: CallDetail;
  readonly paid: number | null;
}): JSX.Element | null {
  const named: readonly (readonly [string, number | null])[] = [
    ["paid", paid],
    ["client's own markers", toDollars(of.client_cost_usd)],
    ["without a cache", toDollars(of.plain_cost_usd)],
    ...of.other_policies
      .filter(({ policy }) => policy !== "none")
      .map(({ policy, cost_usd: usd }) => [policy, toDollars(usd)] as const),
  ];
  const rows = named
    .flatMap(([name, usd]) => (usd === null ? [] : [{ name, usd }]))
    .toSorted((left, right) => left.usd - right.usd);
  if (rows.length < 2) return null;
  const most = Math.max(...rows.map(({ usd }) => usd)) || 1;
  return (
    <>
      <h3>What each policy would have paid</h3>
      <table class="bill">
        <tbody>
          {rows.map(({ name, usd }) => (
            <tr key={name}>
              <th scope="row">{name === "paid" ? <b>paid</b> : name}</th>
              <td class="wide">
                <i
                  class={`bar ${name === "paid" ? "own" : ""}`}
                  style={{ width: `${Math.max(1, (usd / most) * 100)}%` }}
                />
              </td>
              <td>{dollars(usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** The whole prompt, block by block. */
function Whole({ of }: { readonly of: CallDetail }): JSX.Element {
  const { blocks, notes } = of;
  return (
    <>
      {of.refuted.length > 0 && (
        <p class="note">
          Promises of the provider that this reply refuted: {of.refuted.join(", ")}
        </p>
      )}
      {notes.length > 0 && <p class="note">{notes.join("; ")}</p>}
      {blocks.length > 0 && (
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
      )}
      <p class="note">answered in {span(of.latency_ms)}</p>
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
