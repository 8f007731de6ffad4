// What caching saved in a session and why, from the ledger's calls and events and from analytics.
import { askLedger } from "../../src/analytics/ask-ledger.ts";
import { misses, type MissFigures } from "../../src/analytics/misses.ts";
import { savings, type SavingsFigures } from "../../src/analytics/savings.ts";
import { renderFacts, renderTable, type Column } from "../../src/cli/table.ts";
import type { PayloadOf } from "../../src/core/events/event.ts";
import type { CallRecord } from "../../src/core/ledger/call-entry.ts";
import {
  addUsage,
  hitRate,
  noUsage,
  promptTokens,
  writtenTokens,
  type Usage,
} from "../../src/core/message/usage.ts";
import { builtInCatalogue } from "../../src/core/models/catalogue.ts";
import { savingsOverNoCache } from "../../src/core/models/cost.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";
import { formatUsdRounded } from "../../src/core/models/pico-usd.ts";
import { rowAt } from "../../src/core/models/prices.ts";
import { formatCount, formatNumber, formatPercent } from "../../src/replay/format-figures.ts";
import type { GuidedSession } from "./guided-session.ts";

type Miss = PayloadOf<"cache.miss">;

/** A call that was answered. */
type Answered = CallRecord & { readonly usage: Usage; readonly costPicoUsd: bigint };

interface Turn {
  readonly number: number;
  readonly calls: readonly Answered[];
  readonly missed: readonly Miss[];
}

/** `again`: the cost of the same session under other policies. */
export async function explainSavings(
  session: GuidedSession,
  model: ModelFacts,
  again: string,
): Promise<string> {
  const turns = await readTurns(session);
  const calls = turns.flatMap((turn) => turn.calls);
  const { database } = session.store;
  const world = { nowMs: session.endMs + 1, catalogue: builtInCatalogue };
  const [saved] = (await askLedger(database, savings, { groupBy: "none" }, world)).data;
  const lost = (await askLedger(database, misses, { groupBy: "none" }, world)).data[0];
  const table = renderTable(columnsFor(model, calls), turns);
  const facts = renderFacts([
    ["saved", saved === undefined ? null : describeSaved(saved, usageOf(calls))],
    ["prices", describePrices(model, session.endMs)],
    ["hits", describeHits(calls)],
    ["kept", describeKept(calls)],
    ["misses", lost === undefined ? "none" : describeLost(lost, turns)],
    ["again", again],
  ]);
  return `${table}\n${facts}`;
}

async function readTurns({ store, sessionId }: GuidedSession): Promise<readonly Turn[]> {
  const { ledger } = store;
  const missed: { readonly turnId: string | null; readonly payload: Miss }[] = [];
  for await (const event of ledger.readEvents({ sessionId })) {
    if (event.type === "cache.miss") missed.push(event);
  }
  const turns: Turn[] = [];
  for await (const { id } of ledger.readTurns({ sessionId })) {
    turns.push({
      number: turns.length + 1,
      calls: (await ledger.readCalls(id)).map(toAnswered),
      missed: missed.flatMap(({ turnId, payload }) => (turnId === id ? [payload] : [])),
    });
  }
  return turns;
}

function toAnswered(call: CallRecord): Answered {
  const { usage, costPicoUsd } = call;
  if (usage !== null && costPicoUsd !== null) return { ...call, usage, costPicoUsd };
  throw new Error(`call ${call.number} of turn ${call.turnId} has no bill`);
}

function usageOf(calls: readonly Answered[]): Usage {
  return calls.reduce((sum, { usage }) => addUsage(sum, usage), noUsage);
}

function columnsFor(model: ModelFacts, all: readonly Answered[]): readonly Column<Turn>[] {
  const saved = ({ calls }: Turn): bigint =>
    calls.reduce(
      (sum, { usage, startMs }) => sum + savingsOverNoCache(usage, model, { at: startMs }),
      0n,
    );
  const cost = ({ calls }: Turn): bigint =>
    calls.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n);
  return [
    toNumbers("turn", ({ number }) => String(number)),
    toNumbers("calls", ({ calls }) => String(calls.length)),
    toNumbers("read", ({ calls }) => formatNumber(usageOf(calls).cacheReadTokens)),
    toNumbers("written", ({ calls }) => formatNumber(writtenTokens(usageOf(calls)))),
    toNumbers("fresh", ({ calls }) => formatNumber(usageOf(calls).uncachedTokens)),
    toNumbers("cost", (turn) => formatUsdRounded(cost(turn))),
    toNumbers("no cache", (turn) => formatUsdRounded(cost(turn) + saved(turn))),
    { title: "why", cell: (turn) => describeTurn(turn, all) },
  ];
}

function toNumbers(title: string, cell: (turn: Turn) => string): Column<Turn> {
  return { title, align: "right", cell };
}

/** Described by its first call, because the others follow within seconds. */
function describeTurn({ calls, missed }: Turn, all: readonly Answered[]): string {
  const [first] = calls;
  if (first === undefined) return "";
  const read = first.usage.cacheReadTokens;
  const [miss] = missed;
  const before = miss === undefined ? "" : `${miss.cause} ${miss.detail ?? ""}`.trim();
  if (read === 0)
    return before === ""
      ? "the first call writes, the next ones read"
      : `${before}: all is written again`;
  const pause = pauseBefore(first, all);
  return `${before === "" ? pause : before}: read up to the ${placeOf(first, all)}`;
}

function pauseBefore(call: Answered, all: readonly Answered[]): string {
  const before = all[all.indexOf(call) - 1];
  const minutes = Math.round((call.startMs - (before?.startMs ?? call.startMs)) / 60_000);
  return `after ${minutes} min`;
}

/** The marker that wrote what a call read. */
function placeOf(call: Answered, all: readonly Answered[]): string {
  const { hit } = call.plan.expected;
  const at = all.indexOf(call);
  const writer = all
    .slice(0, at)
    .findLast(({ plan }) => plan.markers.some(({ block }) => block === hit?.block));
  const marker = writer?.plan.markers.find(({ block }) => block === hit?.block);
  if (marker === undefined) return "unknown";
  const isLast = writer === all[at - 1] && marker.slot === "tail";
  return `${marker.lifetime} ${isLast ? "tail of the call before" : marker.slot}`;
}

function describeSaved(
  { no_cache: { saved_usd, cost_usd, saved_share } }: SavingsFigures,
  usage: Usage,
): string {
  const share = formatPercent(saved_share ?? 0);
  return `$${saved_usd} of $${cost_usd}, ${share}: of ${formatNumber(promptTokens(usage))} prompt tokens ${formatPercent(hitRate(usage) ?? 0)} were read from the cache`;
}

/** Prices relative to plain input. */
function describePrices({ prices }: ModelFacts, at: number): string | null {
  const rates = prices.kind === "priced" ? rowAt(prices.rows, at)?.rates : undefined;
  if (rates === undefined || rates.readPicoUsd === null) return null;
  const share = (pico: bigint): string => `${Number((pico * 100n) / rates.inputPicoUsd)} %`;
  const writes = Object.entries(rates.writePicoUsd).flatMap(([lifetime, pico]) =>
    pico === null ? [] : [`${share(pico)} (${lifetime})`],
  );
  return `a token read costs ${share(rates.readPicoUsd)} of a plain one, a token written ${writes.join(" or ")}`;
}

function describeLost(
  { miss_count, lost_tokens, lost_cost_usd }: MissFigures,
  turns: readonly Turn[],
): string {
  const causes = new Set(turns.flatMap(({ missed }) => missed.map(({ cause }) => cause)));
  return `${miss_count}, ${[...causes].join(", ")}: ${formatNumber(lost_tokens)} tokens that had been sent before were not read, $${lost_cost_usd} lost`;
}

function describeHits(calls: readonly Answered[]): string {
  const counts = new Map<string, number>();
  for (const call of calls.filter(({ usage }) => usage.cacheReadTokens > 0)) {
    const place = placeOf(call, calls);
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  const asPlanned = calls.filter(({ verdict }) => verdict?.kind === "as expected").length;
  const places = [...counts].map(([place, count]) => `${count} up to the ${place}`);
  return `${places.join(", ")}; ${asPlanned} of ${formatCount(calls.length, "call")} read what was planned`;
}

/** The most useful prefix: written once and read by every call until it was lost. */
function describeKept(calls: readonly Answered[]): string {
  const spans = calls.map(({ usage }, index) => {
    const tokens = writtenTokens(usage);
    const end = usage.cacheReadTokens + tokens;
    const later = calls.slice(index + 1);
    const lostAt = later.findIndex((call) => call.usage.cacheReadTokens < end);
    return { index, tokens, reads: lostAt === -1 ? later.length : lostAt };
  });
  const [best] = spans.toSorted(
    (left, right) => right.tokens * right.reads - left.tokens * left.reads,
  );
  if (best === undefined) return "nothing";
  return `call ${best.index + 1} wrote ${formatNumber(best.tokens)} tokens once; the next ${formatCount(best.reads, "call")} read them`;
}
