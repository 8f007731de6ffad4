// Checks that sessions show exactly what nodes reported: the old history or the new one.
import type { NodeEvent, Tried } from "./node-event.ts";

export interface Journal {
  add(node: string, event: NodeEvent): void;
  /** Call while no node writes. Returns each problem once, in words. */
  compare(shown: ShownSession): readonly string[];
  /** Compactions committed by nodes that had lost their lock, in words. */
  findLate(): readonly string[];
  /** Compactions refused because of a lost lock or another head. */
  refusedCompactions(): number;
}

export interface ShownSession {
  readonly id: string;
  readonly head: string | null;
  /** Digest of the thread. */
  readonly digest: string;
  /** Every turn and compact on the path to the head. */
  readonly path: readonly string[];
}

interface Commit extends Tried {
  readonly node: string;
  readonly us: number;
}

export function createJournal(): Journal {
  const trying = new Map<string, Commit>();
  const done = new Map<string, Commit>();
  const refusals = new Set<string>();
  const locks: { node: string; sessionId: string; token: number; us: number }[] = [];
  let refusedCompactions = 0;
  return {
    add: (node, event) => {
      if (event.at === "locked") locks.push({ node, ...event });
      if (event.at === "try")
        trying.set(`${node} ${event.n}`, { ...event.tried, node, us: event.us });
      if (event.at !== "done" && event.at !== "refused") return;
      const name = `${node} ${event.n}`;
      const commit = trying.get(name);
      trying.delete(name);
      if (commit === undefined) return;
      if (event.at === "done") done.set(commit.head, commit);
      else {
        if (commit.token !== undefined) refusedCompactions += 1;
        refusals.add(commit.head);
      }
    },
    compare: ({ id, head, digest, path }) => {
      const problems: string[] = [];
      const there = new Set(path);
      // The outcome of these was never reported: they exist or not, and the store decides from now on.
      for (const [name, commit] of trying) {
        if (commit.sessionId !== id) continue;
        if (there.has(commit.head)) done.set(commit.head, commit);
        trying.delete(name);
      }
      for (const [acknowledged, { sessionId }] of done) {
        if (sessionId === id && !there.has(acknowledged)) {
          problems.push(`LOST ${acknowledged} of session ${id} was acknowledged and is not there`);
        }
      }
      for (const turnId of path) {
        if (refusals.has(turnId))
          problems.push(`${turnId} of session ${id} was refused and is there`);
        else if (!done.has(turnId))
          problems.push(`${turnId} of session ${id} exists but was never written`);
      }
      const expected = head === null ? undefined : done.get(head)?.digest;
      if (head !== null && expected !== undefined && expected !== digest) {
        problems.push(`MIXED session ${id} shows at ${head} ${digest}, not ${expected}`);
      }
      return problems;
    },
    findLate: () =>
      [...done.values()].flatMap(({ node, sessionId, token, head, us }) => {
        if (token === undefined) return [];
        const later = locks.find(
          (lock) => lock.sessionId === sessionId && lock.token > token && lock.us < us,
        );
        if (later === undefined) return [];
        return [`LATE ${node} committed fold ${head} after ${later.node} had taken the lock over`];
      }),
    refusedCompactions: () => refusedCompactions,
  };
}
