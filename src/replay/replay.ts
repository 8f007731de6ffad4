// Recordings → report: what they cost, under every policy and at the limit.
import { noUsage } from "../core/message/usage.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import type { Recorded, RecordedRequest, RecordedSession } from "./recording.ts";
import type { CallDetail } from "./call-detail.ts";
import { openBooks, skip, type Books, type GroupBy, type ReplayOptions } from "./books.ts";
import { createGroup, type Group } from "./group.ts";
import { createModelLookup } from "./replay-model.ts";
import { toReport, type ReplayReport } from "./report.ts";
import { replayWorkspace, type ReplayedRequest, type TimedRequest } from "./replay-workspace.ts";
import { addToTally, costOf, createTally } from "./tally.ts";
import { createWriteWatch, type WriteWatch } from "./write-waste.ts";

/** Reads to the end. Holds one workspace in memory at a time. */
export async function replay(
  recordings: AsyncIterable<Recorded>,
  options: ReplayOptions,
): Promise<ReplayReport> {
  const books = openBooks(options);
  let workspace: Gathered | null = null;
  for await (const recorded of recordings) {
    if (recorded.type === "skipped") skip(books, recorded.reason, recorded);
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
  return toReport(books);
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
}

function settle({ name, sessions, requests }: Gathered, books: Books): void {
  const { options } = books;
  const placed = placeInTime(requests, sessions, books);
  requests.length = 0;
  const marked = placed.filter(({ model }) => model.cache.markers !== null);
  const unmarked = placed.filter(({ model }) => model.cache.markers === null);
  placed.length = 0;
  const watches = new Map<string, WriteWatch>();
  const bySession = new Set<string>();
  for (const replayed of replayWorkspace(name, drain(marked), options.policies)) {
    const { timed, outcomes, sharedTokens: shared } = replayed;
    const { session } = timed;
    options.onCall?.(toDetail(replayed));
    bySession.add(session.id);
    for (const group of groupsOf(session, timed, books)) {
      addRequest(group, replayed);
      for (const [index, outcome] of outcomes.entries()) {
        const tally = group.tallies[index];
        if (tally !== undefined) addToTally(tally, outcome, timed.model, timed.startMs);
      }
    }
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
    const tally = books.total.tallies[Number(key.split(" ")[0])];
    if (tally === undefined) continue;
    const { wastedTokens, firstTokens } = watch.totals();
    tally.wastedTokens += wastedTokens;
    tally.firstWrittenTokens += firstTokens;
  }
  settleUnmarked(name, unmarked, books);
  for (const id of bySession) books.total.sessions.add(id);
  options.onProgress?.({
    sessions: books.total.sessions.size + books.automatic.sessions.size,
    requests: books.total.requests + books.automatic.requests,
  });
}

/** Requests with time and model, in order of time. Skipped requests and replaced models are counted. */
function placeInTime(
  requests: Gathered["requests"],
  sessions: Gathered["sessions"],
  books: Books,
): Placed[] {
  const lookUp = createModelLookup(books.options.model);
  const lastMs = new Map<string, number>();
  const seen = new Set<string>();
  const placed: Placed[] = [];
  for (const { sessionId, request } of requests) {
    const session = sessions.get(sessionId);
    if (session === undefined) continue;
    if (request.startMs === null) {
      skip(books, "request without a time");
      continue;
    }
    const { facts, standsInFor } = lookUp(session, request);
    if (standsInFor !== null) {
      const reason = `${facts.id} stands in for ${standsInFor}`;
      books.standIns.set(reason, (books.standIns.get(reason) ?? 0) + 1);
    }
    const thread = `${sessionId} ${request.thread}`;
    // Recorded clocks sometimes go back; the order within a thread is reliable.
    const startMs = Math.max(lastMs.get(thread) ?? -Infinity, epochOf(request.startMs));
    lastMs.set(thread, startMs);
    const isFirst = !seen.has(sessionId);
    seen.add(sessionId);
    const isMain = request.thread === "";
    placed.push({
      request: { ...request, thread },
      startMs,
      model: facts,
      session,
      isFirst,
      isMain,
    });
  }
  return placed.toSorted((left, right) => left.startMs - right.startMs);
}

/** Times relative to the start of a recording move to a day that has prices. */
function epochOf(ms: number): number {
  return ms < 1_000_000_000_000 ? ms + 1_800_000_000_000 : ms;
}

function groupsOf(session: RecordedSession, timed: TimedRequest, books: Books): Group[] {
  const { groupBy, policies } = books.options;
  if (groupBy === "none") return [books.total];
  const name = groupName(groupBy, session, timed.model, timed.startMs);
  const group = books.groups.get(name) ?? createGroup(name, policies.length);
  books.groups.set(name, group);
  group.sessions.add(session.id);
  return [books.total, group];
}

function groupName(
  groupBy: Exclude<GroupBy, "none">,
  session: RecordedSession,
  model: ModelFacts,
  startMs: number,
): string {
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
  const { timed, limits, promptTokens } = replayed;
  const { request, model, startMs, isFirst } = timed;
  const { limitPicoUsd, warmPicoUsd } = limits;
  const plain = costOf({ ...noUsage, uncachedTokens: promptTokens }, model, startMs);
  group.requests += 1;
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

function settleUnmarked(name: string, requests: Placed[], books: Books): void {
  const [policy] = books.options.policies;
  if (policy === undefined) return;
  const { automatic } = books;
  const tally = automatic.tallies[0] ?? createTally();
  for (const replayed of replayWorkspace(name, drain(requests), [policy])) {
    const { timed, outcomes } = replayed;
    addRequest(automatic, replayed);
    const [outcome] = outcomes;
    if (outcome !== undefined) addToTally(tally, outcome, timed.model, timed.startMs);
    automatic.sessions.add(timed.session.id);
  }
}
