// Recordings → report: what they cost, under every policy and at the limit.
import { noUsage, promptTokens as promptTokensOf } from "../core/message/usage.ts";
import type { Recorded, RecordedRequest, RecordedSession } from "./recording.ts";
import type { Caching } from "./recorded-reads.ts";
import { createAnchor, type Anchor } from "./anchor-sizes.ts";
import { tokenizerOf } from "./readers/block-draft.ts";
import { cacheModeOf } from "./recorded-request.ts";
import type { CallDetail } from "./call-detail.ts";
import {
  closeBooks,
  countUp,
  createGroup,
  openBooks,
  skip,
  type Books,
  type Group,
  type GroupBy,
  type ReplayOptions,
  type Sums,
} from "./books.ts";
import { createModelLookup } from "./replay-model.ts";
import { toReport, type ReplayReport } from "./report.ts";
import type { TimedRequest } from "./policy-run.ts";
import { replayWorkspace, type ReplayedRequest } from "./replay-workspace.ts";
import { addToTally, costOf } from "./tally.ts";
import { createWriteWatch, type WriteWatch } from "./write-waste.ts";

/** Reads to the end. Holds one workspace in memory at a time. */
export async function replay(
  recordings: AsyncIterable<Recorded>,
  options: ReplayOptions,
): Promise<ReplayReport> {
  return toReport(await sumUp(recordings, options), options.policies);
}

/** The sums of recordings that are read to the end. */
export async function sumUp(
  recordings: AsyncIterable<Recorded>,
  options: ReplayOptions,
): Promise<Sums> {
  const books = openBooks(options);
  let workspace: Gathered | null = null;
  for await (const recorded of recordings) {
    if (recorded.type === "skipped") skip(books.sums, recorded.reason, recorded);
    else if (recorded.type === "session") {
      const { session } = recorded;
      if (workspace !== null && workspace.name !== session.workspace) settle(workspace, books);
      if (workspace === null || workspace.name !== session.workspace) {
        workspace = { name: session.workspace, sessions: new Map(), requests: [] };
      }
      workspace.sessions.set(session.id, session);
    } else workspace?.requests.push(recorded);
  }
  if (workspace !== null) settle(workspace, books);
  return closeBooks(books);
}

interface Gathered {
  readonly name: string;
  readonly sessions: Map<string, RecordedSession>;
  readonly requests: { readonly sessionId: string; readonly request: RecordedRequest }[];
}

interface Placed extends TimedRequest {
  readonly session: RecordedSession;
  /** Whether it is the first request of its session. */
  readonly isFirst: boolean;
  /** Whether its reads can be compared: its own model, a known protocol, not the first request of its thread. */
  readonly isComparable: boolean;
}

function settle({ name, sessions, requests }: Gathered, books: Books): void {
  const { options, sums } = books;
  const all = placeInTime(requests, sessions, books);
  const placed = all.filter(({ session }) => session.blocks !== "from bills");
  for (const each of all) if (each.session.blocks === "from bills") addBilled(each, books);
  const marked = placed.filter(({ model }) => model.cache.markers !== null);
  const unmarked = placed.filter(({ model }) => model.cache.markers === null);
  placed.length = 0;
  all.length = 0;
  const watches = new Map<string, WriteWatch>();
  // Only recordings with usage can be compared.
  const isBilled = marked.some(({ request }) => request.usage !== null);
  const clientModeOf = isBilled ? ({ session }: Placed) => cacheModeOf(session) : undefined;
  const { policies, billing } = options;
  for (const replayed of replayWorkspace(name, drain(marked), policies, clientModeOf, billing)) {
    compareReads(replayed, "markers", replayed.clientReadTokens, books);
    const { timed, outcomes, sharedTokens: shared } = replayed;
    options.onCall?.(toDetail(replayed));
    for (const group of groupsOf(timed, books)) addRequest(group, replayed);
    for (const [index, { usage }] of outcomes.entries()) {
      const key = `${index} ${timed.request.thread}`;
      const watch = watches.get(key) ?? createWriteWatch();
      watches.set(key, watch);
      const written = Object.values(usage.cacheWriteTokens).reduce((sum, each) => sum + each, 0);
      const read = usage.cacheReadTokens;
      watch.observe({ shared, read, written: read + written });
    }
  }
  for (const [key, watch] of watches) {
    const tally = sums.total.tallies[Number(key.split(" ")[0])];
    if (tally === undefined) continue;
    const { wastedTokens, firstTokens } = watch.totals();
    tally.wastedTokens += wastedTokens;
    tally.firstWrittenTokens += firstTokens;
  }
  // Without markers every policy gives the same bill.
  for (const replayed of replayWorkspace(name, drain(unmarked), options.policies.slice(0, 1))) {
    addRequest(sums.automatic, replayed);
    compareReads(replayed, "automatic", replayed.outcomes[0]?.usage.cacheReadTokens, books);
  }
  options.onProgress?.({
    sessions: sums.total.sessions.size + sums.automatic.sessions.size + sums.billed.sessions.size,
    requests: sums.total.requests + sums.automatic.requests + sums.billed.requests,
  });
}

function compareReads(
  { timed: { session, request, isComparable } }: ReplayedRequest<Placed>,
  caching: Caching,
  simulatedReadTokens: number | null | undefined,
  { reads }: Books,
): void {
  if (!isComparable || request.usage === null) return;
  reads.compare(session, caching, request.usage, simulatedReadTokens ?? 0);
}

/** Requests with time and model, in order of time. Skipped requests and replaced models are counted. */
function placeInTime(
  requests: Gathered["requests"],
  sessions: Gathered["sessions"],
  books: Books,
): Placed[] {
  const lookUp = createModelLookup(books.options.model, books.options.catalogue);
  const anchors = new Map<string, Anchor>();
  const lastMs = new Map<string, number>();
  const seen = new Set<string>();
  const placed: Placed[] = [];
  for (const { sessionId, request: asCounted } of drain(requests)) {
    const session = sessions.get(sessionId);
    if (session === undefined) continue;
    const thread = `${sessionId} ${asCounted.thread}`;
    const anchor = anchors.get(thread) ?? createAnchor(thread);
    anchors.set(thread, anchor);
    const { request, hiddenTokens } = anchor(asCounted, tokenizerOf(asCounted.model));
    books.reads.addRequest(session, asCounted.thread, hiddenTokens);
    if (request.startMs === null) {
      skip(books.sums, "request without a time");
      continue;
    }
    const { facts, standsInFor } = lookUp(session, request);
    if (standsInFor !== null) {
      countUp(books.sums.standIns, `${facts.id} stands in for ${standsInFor}`);
    }
    // Recorded clocks sometimes go back; the order within a thread is reliable.
    const startMs = Math.max(lastMs.get(thread) ?? -Infinity, epochOf(request.startMs));
    const isComparable = lastMs.has(thread) && standsInFor === null && session.wire !== null;
    lastMs.set(thread, startMs);
    const isFirst = !seen.has(sessionId);
    seen.add(sessionId);
    const isMain = request.thread === "";
    const timed = { request: { ...request, thread }, startMs, model: facts, isMain };
    placed.push({ ...timed, session, isFirst, isComparable });
  }
  return placed.toSorted((left, right) => left.startMs - right.startMs);
}

/** Times relative to the start of a recording move to a day that has prices. */
function epochOf(ms: number): number {
  return ms < 1_000_000_000_000 ? ms + 1_800_000_000_000 : ms;
}

function groupsOf(placed: Placed, { options, sums }: Books): Group[] {
  const { groupBy, policies } = options;
  if (groupBy === "none") return [sums.total];
  const name = groupName(groupBy, placed);
  const group = sums.groups.get(name) ?? createGroup(name, policies.length);
  sums.groups.set(name, group);
  return [sums.total, group];
}

function groupName(groupBy: Exclude<GroupBy, "none">, { session, model, startMs }: Placed): string {
  switch (groupBy) {
    case "session":
      return session.id;
    case "model":
      return model.id;
    case "agent":
      return session.agent ?? "unknown";
    case "day":
      return new Date(startMs).toISOString().slice(0, 10);
  }
}

function addRequest(group: Group, replayed: ReplayedRequest<Placed>): void {
  const { timed, limits, promptTokens, outcomes } = replayed;
  const { session, request, model, startMs, isFirst } = timed;
  const { limitPicoUsd, warmPicoUsd } = limits;
  const plain = costOf({ ...noUsage, uncachedTokens: promptTokens }, model, startMs);
  group.sessions.add(session.id);
  group.requests += 1;
  for (const [index, outcome] of outcomes.entries()) {
    const tally = group.tallies[index];
    if (tally !== undefined) addToTally(tally, outcome, model, startMs);
  }
  group.plainPicoUsd += plain;
  group.limitPicoUsd += limitPicoUsd;
  group.warmPicoUsd += warmPicoUsd;
  if (request.usage === null) return;
  group.recordedRequests += 1;
  addToTally(group.recorded, { usage: request.usage, miss: null }, model, startMs);
  group.recordedLimitPicoUsd += limitPicoUsd;
  group.recordedPlainPicoUsd += plain;
  if (isFirst) group.warmStartTokens += request.usage.cacheReadTokens;
}

/** A bill without its prompt is summed as it is. */
function addBilled(placed: Placed, { options, sums }: Books): void {
  const { session, request, model, startMs, isFirst } = placed;
  const { usage } = request;
  if (usage === null) return skip(sums, "request without prompt and bill");
  const groups = [sums.billed];
  if (options.groupBy !== "none") {
    const name = groupName(options.groupBy, placed);
    const group = sums.billedGroups.get(name) ?? createGroup(name, 0);
    sums.billedGroups.set(name, group);
    groups.push(group);
  }
  const uncachedTokens = promptTokensOf(usage);
  for (const group of groups) {
    group.sessions.add(session.id);
    group.requests += 1;
    group.plainPicoUsd += costOf({ ...noUsage, uncachedTokens }, model, startMs);
    addToTally(group.recorded, { usage, miss: null }, model, startMs);
    if (isFirst) group.warmStartTokens += usage.cacheReadTokens;
  }
}

/** Removes items as it yields them, so that a long session is not in memory twice. */
function* drain<Item>(items: Item[]): Generator<Item> {
  items.reverse();
  for (let item = items.pop(); item !== undefined; item = items.pop()) yield item;
}

function toDetail(replayed: ReplayedRequest<Placed>): CallDetail {
  const { timed, outcomes, limits } = replayed;
  const { session, request, startMs, model } = timed;
  return {
    sessionId: session.id,
    file: session.file,
    thread: request.thread.slice(session.id.length + 1),
    startMs,
    model: model.id,
    tierTokens: replayed.tierTokens(),
    outcomes,
    recorded: request.usage,
    limitPicoUsd: limits.limitPicoUsd,
  };
}
