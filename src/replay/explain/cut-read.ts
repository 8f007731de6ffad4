// What a read says that stops short where the recording lacks parts of the request.
import { keepsEveryPrefix } from "../../core/cache/expect-bill.ts";
import type { Explanation, MissCause } from "../../core/diagnosis/explanation.ts";
import { stepOf } from "../../core/diagnosis/read-ladder.ts";
import { promptTokens, writtenTokens, type Usage } from "../../core/message/usage.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";

/** Where a prefix ends that the provider had, by the bill of a call. */
export interface PrefixEnd {
  readonly tokens: number;
  /** Whether the call read up to here, or left it. */
  readonly was: "read" | "left";
  /** Within its session, from 1. */
  readonly call: number;
}

/** A provider that keeps every prefix has the whole prompt; otherwise reads and writes end at entries. */
export function prefixEnds(usage: Usage, call: number, facts: ModelFacts): readonly PrefixEnd[] {
  const read = usage.cacheReadTokens;
  const last = keepsEveryPrefix(facts.cache) ? promptTokens(usage) : read + writtenTokens(usage);
  return [
    ...(read > 0 ? [{ tokens: read, was: "read", call } as const] : []),
    ...(last > read ? [{ tokens: last, was: "left", call } as const] : []),
  ];
}

export interface CutRead {
  readonly cause: Extract<MissCause, "changed after the head" | "another host">;
  readonly detail: string;
}

export interface CutQuestion {
  readonly found: Pick<Explanation, "expectedReadTokens" | "reportedReadTokens">;
  readonly facts: ModelFacts;
  /** From the session's earlier calls. */
  readonly ends: readonly PrefixEnd[];
  /** Whether a prefix before the messages was kept on its own, so that a change behind it leaves something to read. */
  readonly isHeadKept: boolean;
  /** The first unread block and the last one that could have been read, from 1. */
  readonly blocks: { readonly first: number; readonly last: number };
}

/**
 * The provider had the part that was read, so it did not drop the conversation. What follows was different, or, where
 * hosts of a provider each keep what they saw, another host answered. Null if not even a head was read that was there.
 */
export function findCutRead(question: CutQuestion): CutRead | null {
  const { found, facts, ends, blocks } = question;
  const { expectedReadTokens: expected, reportedReadTokens: read } = found;
  if (read === 0 && question.isHeadKept) return null;
  const end = nearestEnd(ends, read, facts);
  const isSpread = keepsEveryPrefix(facts.cache) && facts.cache.automatic?.bestEffort === true;
  if (isSpread && end !== null) {
    const detail = `${read} of ${expected} tokens were read, ${described(end)}`;
    return { cause: "another host", detail };
  }
  const last = Math.max(blocks.first, blocks.last);
  const where = end === null ? "" : `; ${read} tokens were read, ${described(end)}`;
  const detail = `in blocks ${blocks.first} to ${last}, tokens ${read} to ${expected}${where}`;
  return { cause: "changed after the head", detail };
}

function described({ was, call }: PrefixEnd): string {
  return was === "read" ? `as much as by call ${call}` : `up to what call ${call} left`;
}

/** Bills give exact tokens; a provider that keeps whole steps reads up to one step less. Of equally near ends the latest. */
function nearestEnd(ends: readonly PrefixEnd[], read: number, facts: ModelFacts): PrefixEnd | null {
  const finest = facts.cache.automatic?.reportedInSteps ?? 1;
  const offOf = ({ tokens }: PrefixEnd): number => Math.floor(Math.abs(tokens - read) / finest);
  let best: PrefixEnd | null = null;
  for (const end of ends) {
    const over = end.tokens - read;
    if (over < -exactTolerance || over > stepOf(facts) + exactTolerance) continue;
    if (best === null || offOf(end) <= offOf(best)) best = end;
  }
  return best;
}

const exactTolerance = 8;
