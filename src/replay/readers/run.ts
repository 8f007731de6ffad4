// The state of a run over many files, which threads can share: each answers for itself, and the answers are checked in order.
import type { Run } from "./line-reader.ts";

export interface CheckedRun extends Run {
  /** What was asked since this was called last, with the answers. */
  takeClaims(): Claims;
  /** Takes over the claims of the next file, if this run would have answered the same. Otherwise nothing changes. */
  accept(claims: Claims): boolean;
}

/** A plain value, so that it can be sent between threads. */
export interface Claims {
  /** By id: how many sessions had it before, and how many have it now. */
  readonly sessions: ReadonlyMap<string, { readonly before: number; readonly now: number }>;
  /** By id: whether it was read before. */
  readonly replies: ReadonlyMap<string, boolean>;
}

export function createRun(): CheckedRun {
  const sessions = new Map<string, number>();
  const replies = new Set<string>();
  let claimed = { sessions: new Map<string, SessionClaim>(), replies: new Map<string, boolean>() };
  return {
    claimSessionId(id) {
      const taken = sessions.get(id) ?? 0;
      sessions.set(id, taken + 1);
      const before = claimed.sessions.get(id)?.before ?? taken;
      claimed.sessions.set(id, { before, now: taken + 1 });
      return taken === 0 ? id : `${id}#${taken + 1}`;
    },
    claimReply(id) {
      const isKnown = replies.has(id);
      replies.add(id);
      if (!claimed.replies.has(id)) claimed.replies.set(id, isKnown);
      return !isKnown;
    },
    takeClaims() {
      const taken = claimed;
      claimed = { sessions: new Map(), replies: new Map() };
      return taken;
    },
    accept(claims) {
      for (const [id, { before }] of claims.sessions) {
        if ((sessions.get(id) ?? 0) !== before) return false;
      }
      for (const [id, isKnown] of claims.replies) if (replies.has(id) !== isKnown) return false;
      for (const [id, { now }] of claims.sessions) sessions.set(id, now);
      for (const id of claims.replies.keys()) replies.add(id);
      return true;
    },
  };
}

type SessionClaim = Claims["sessions"] extends ReadonlyMap<string, infer Claim> ? Claim : never;
