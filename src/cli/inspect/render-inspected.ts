// One session for a terminal: the sentence that the page begins with, its breaks, and what was carried longest.
import type { InspectedSession } from "../../dashboard/file/file-data.ts";
import type { PicturedCall } from "../../dashboard/picture/pictured-call.ts";
import { toScene } from "../../dashboard/picture/scene.ts";
import { toPictured } from "../../dashboard/picture/to-pictured.ts";
import { counted, dollars, share, tokens } from "../../dashboard/words/figures.ts";
import { nameChild, nameSession } from "../../dashboard/words/names.ts";
import { describeMiss, describeSession } from "../../dashboard/words/session-words.ts";

export interface InspectedAs {
  readonly leftOutCount: number;
  /** The file that was written; null for none. */
  readonly page: string | null;
}

const breaksMax = 12;
const heavyMax = 5;

export function renderInspected(
  session: InspectedSession,
  { leftOutCount, page }: InspectedAs,
): string {
  const calls = toPictured(session.calls);
  if (calls.length === 0) return `${nameSession(session)} has no calls yet.\n`;
  const lines = [
    sayAll(calls),
    factsOf(session, calls, leftOutCount),
    ...listBreaks(calls),
    ...listHeavy(calls),
    ...listChildren(session),
    ...(page === null ? [] : ["", `The cross-section is in ${page}`]),
  ];
  return `${lines.join("\n")}\n`;
}

function sayAll(calls: readonly PicturedCall[]): string {
  const { cost, withoutCache, lost } = describeSession(calls);
  const parts = [
    `This session cost ${cost}.`,
    ...(withoutCache === null ? [] : [`Without a cache it would have cost ${withoutCache}.`]),
    lost === null
      ? "Nothing was lost."
      : `${lost.dollars} of it was lost to ${lost.breaks}: ${lost.causes.join(", ")}.`,
    ...(lost === null ? [] : [lost.advice]),
  ];
  return parts.join(" ");
}

function factsOf(
  session: InspectedSession,
  calls: readonly PicturedCall[],
  leftOutCount: number,
): string {
  const { agent, compared } = session;
  const unpriced = describeSession(calls).unpricedCount;
  const change = compared === null ? 0 : Number(compared.cost_usd) / Number(compared.paid_usd) - 1;
  return [
    nameSession(session),
    ...(agent === null ? [] : [agent]),
    counted(calls.length, "call"),
    [...new Set(calls.map(({ model }) => model))].join(", "),
    ...(leftOutCount > 0 ? [`${counted(leftOutCount, "earlier call")} left out`] : []),
    ...(unpriced > 0 ? [`${counted(unpriced, "call")} without a price`] : []),
    ...(compared === null || !Number.isFinite(change)
      ? []
      : [
          `with ${compared.policy} ${dollars(Number(compared.cost_usd))} (${change > 0 ? "+" : "−"}${share(Math.abs(change))})`,
        ]),
  ].join(" · ");
}

function listBreaks(calls: readonly PicturedCall[]): readonly string[] {
  const broken = calls
    .map((call, at) => ({ call, gapMs: call.startMs - (calls[at - 1] ?? call).startMs }))
    .filter(({ call: { miss } }) => miss !== null && miss.lostTokens > 0)
    .toSorted(
      (left, right) => (right.call.miss?.lostDollars ?? 0) - (left.call.miss?.lostDollars ?? 0),
    );
  if (broken.length === 0) return [];
  const more = broken.length - breaksMax;
  return [
    "",
    "Breaks",
    ...broken
      .slice(0, breaksMax)
      .flatMap(({ call, gapMs }) => [
        `  call ${call.number}  ${describeMiss(call, gapMs)}`,
        `      ${call.miss?.advice ?? ""}`,
      ]),
    ...(more > 0 ? [`  and ${counted(more, "more break")}; --json names them`] : []),
  ];
}

function listHeavy(calls: readonly PicturedCall[]): readonly string[] {
  const heaviest = toScene(calls, "calls").heaviest.slice(0, heavyMax);
  if (heaviest.length === 0) return [];
  return [
    "",
    "Carried longest",
    ...heaviest.map(
      ({ section, tokens: size, callCount, dollars: paid }) =>
        `  ${section}: ${tokens(size)}, carried for ${counted(callCount, "call")}${paid === null ? "" : `, ${dollars(paid)} so far`}`,
    ),
  ];
}

function listChildren({ children }: InspectedSession): readonly string[] {
  if (children.length === 0) return [];
  return [
    "",
    "Sub-agents",
    ...children.map(
      (child) =>
        `  ${nameChild(child)}  ${child.session}: ${counted(child.call_count, "call")}, ${dollars(Number(child.cost_usd))}, ${child.model}`,
    ),
  ];
}
