// Adds requests to the sums of their groups.
import { noUsage, promptTokens as promptTokensOf } from "../core/message/usage.ts";
import { countUsed, createGroup, leaveOut, type Books, type Group, type GroupBy } from "./books.ts";
import type { Placed } from "./place-in-time.ts";
import type { ReplayedRequest } from "./replay-workspace.ts";
import { addToTally, costOf } from "./tally.ts";

export function groupsOf(placed: Placed, { options, sums }: Books): Group[] {
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

/** `costs`: of every outcome, if the caller has them. */
export function addRequest(
  group: Group,
  replayed: ReplayedRequest<Placed>,
  costs: readonly bigint[] = [],
): void {
  const { timed, limits, promptTokens, outcomes } = replayed;
  const { session, request, model, startMs, isFirst } = timed;
  const { limitPicoUsd, warmPicoUsd } = limits;
  const plain = costOf({ ...noUsage, uncachedTokens: promptTokens }, model, startMs);
  group.sessions.add(session.id);
  group.requests += 1;
  for (const [index, outcome] of outcomes.entries()) {
    const tally = group.tallies[index];
    if (tally !== undefined) addToTally(tally, outcome, model, startMs, costs[index]);
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
export function addBilled(placed: Placed, books: Books): void {
  const { options, sums } = books;
  const { session, request, model, startMs, isFirst } = placed;
  const { usage } = request;
  if (usage === null) return leaveOut(books, session, "request without prompt and bill");
  countUsed(books, session, "billed");
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
