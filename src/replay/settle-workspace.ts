// Prices the requests of one workspace, under every policy and as they were billed, and adds them to the sums.
import { writtenTokens } from "../core/message/usage.ts";
import { countUsed, type Books } from "./books.ts";
import type { CallDetail } from "./call-detail.ts";
import { addBilled, addRequest, groupsOf } from "./group-sums.ts";
import { openOtherBytes } from "./other-bytes.ts";
import { drain, placeInTime, type Gathered, type Placed } from "./place-in-time.ts";
import type { Caching } from "./recorded-reads.ts";
import { cacheModeOf } from "./recorded-request.ts";
import { openWorkspaceReplay, replayWorkspace, type ReplayedRequest } from "./replay-workspace.ts";
import { settleBill, settleComparison } from "./settle-bill.ts";
import { createWriteWatch, type WriteWatch } from "./write-waste.ts";

export function settle(workspace: Gathered, books: Books): void {
  const { options, sums } = books;
  const all = placeInTime(workspace, books);
  const placed = all.filter(({ session }) => session.blocks !== "from bills");
  for (const each of all) {
    if (each.session.blocks !== "from bills") continue;
    addBilled(each, books);
    settleBill(each, "billed", books);
  }
  const marked = placed.filter(({ model }) => model.cache.markers !== null);
  const unmarked = placed.filter(({ model }) => model.cache.markers === null);
  placed.length = 0;
  all.length = 0;
  settleMarked(workspace.name, marked, books);
  // Without markers every policy gives the same bill.
  const one = options.policies.slice(0, 1);
  for (const replayed of replayWorkspace(workspace.name, drain(unmarked), one)) {
    addRequest(sums.automatic, replayed);
    compareReads(replayed, "automatic", replayed.outcomes[0]?.usage.cacheReadTokens, books);
    settleBill(replayed.timed, "automatic", books);
  }
  options.onProgress?.({
    sessions: sums.total.sessions.size + sums.automatic.sessions.size + sums.billed.sessions.size,
    requests: sums.total.requests + sums.automatic.requests + sums.billed.requests,
  });
}

function settleMarked(name: string, marked: Placed[], books: Books): void {
  const { options, sums } = books;
  const { policies, billing } = options;
  // Only recordings with usage can be compared.
  const isBilled = marked.some(({ request }) => request.usage !== null);
  const clientModeOf = isBilled ? ({ session }: Placed) => cacheModeOf(session) : undefined;
  const asShown = openWorkspaceReplay<Placed>(name, policies, clientModeOf, billing);
  const otherwise = openOtherBytes(name, marked, options);
  const watches = createWatches();
  for (const timed of drain(marked)) {
    const replayed = asShown(timed);
    const others = otherwise(replayed);
    compareReads(replayed, "markers", replayed.clientReadTokens, books);
    options.onCall?.(toDetail(replayed));
    const costs = settleComparison(others, books);
    for (const group of groupsOf(timed, books)) addRequest(group, replayed, costs);
    countUsed(books, timed.session, "compared");
    watches.observe(replayed);
  }
  watches.addTo(sums.total.tallies);
}

/** Writes that were never read, by policy and thread. */
function createWatches(): {
  observe(replayed: ReplayedRequest<Placed>): void;
  addTo(tallies: Books["sums"]["total"]["tallies"]): void;
} {
  const watches = new Map<string, readonly WriteWatch[]>();
  return {
    observe({ timed, outcomes, sharedTokens: shared }) {
      const { thread } = timed.request;
      const own = watches.get(thread) ?? outcomes.map(createWriteWatch);
      watches.set(thread, own);
      for (const [index, { usage }] of outcomes.entries()) {
        const read = usage.cacheReadTokens;
        own[index]?.observe({ shared, read, written: read + writtenTokens(usage) });
      }
    },
    addTo(tallies) {
      for (const own of watches.values()) {
        for (const [index, watch] of own.entries()) {
          const tally = tallies[index];
          if (tally === undefined) continue;
          const { wastedTokens, firstTokens } = watch.totals();
          tally.wastedTokens += wastedTokens;
          tally.firstWrittenTokens += firstTokens;
        }
      }
    },
  };
}

function compareReads(
  { timed: { session, request, isComparable }, promptTokens }: ReplayedRequest<Placed>,
  caching: Caching,
  simulatedReadTokens: number | null | undefined,
  { reads }: Books,
): void {
  if (request.usage === null) return;
  reads.comparePrompt(session, request.usage, promptTokens);
  if (!isComparable) return;
  reads.compare(session, caching, request.usage, simulatedReadTokens ?? 0);
}

function toDetail(replayed: ReplayedRequest<Placed>): CallDetail {
  const { timed, outcomes, limits } = replayed;
  const { session, request, startMs, model, explained } = timed;
  return {
    sessionId: session.id,
    file: session.file,
    thread: request.thread.slice(session.id.length + 1),
    startMs,
    model: model.id,
    tierTokens: replayed.tierTokens(),
    outcomes,
    recorded: request.usage,
    recordedCause: explained === null ? null : explained.explanation.cause,
    limitPicoUsd: limits.limitPicoUsd,
  };
}
