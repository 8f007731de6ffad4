// A ledger that reports before and after each commit.
import { nowUs } from "../../harness/worker-process.ts";
import type { NewCompaction } from "../../src/core/ledger/compaction-record.ts";
import type { CompactionLock, Ledger, OpenTurn } from "../../src/core/ledger/ledger.ts";
import { isConflict } from "../ledger/stage.ts";
import { digestItems, foldItems, readItems, readOwn, type Item } from "./shadow.ts";
import type { Report, Tried } from "./node-event.ts";

export function watchLedger(ledger: Ledger, report: Report): Ledger {
  let attempts = 0;
  const running = new Set<string>();
  const attempt = async (tried: Tried, work: () => Promise<void>): Promise<void> => {
    attempts += 1;
    const n = attempts;
    report({ at: "try", n, us: nowUs(), tried });
    try {
      await work();
    } catch (error) {
      if (isConflict(error)) report({ at: "refused", n });
      throw error;
    }
    report({ at: "done", n, us: nowUs() });
  };
  return {
    ...ledger,
    openTurn: async (turn) => {
      const opened = await ledger.openTurn(turn);
      running.add(turn.sessionId);
      const earlier = await readItems(ledger, turn.sessionId);
      return watchTurn({ ledger, opened, earlier, attempt, running });
    },
    resumeTurn: async (sessionId) => {
      const opened = await ledger.resumeTurn(sessionId);
      running.add(sessionId);
      const earlier = await readItems(ledger, sessionId);
      return watchTurn({ ledger, opened, earlier, attempt, running });
    },
    lockCompaction: async (sessionId) => {
      const lock = await ledger.lockCompaction(sessionId);
      if (lock === null) {
        report({ at: "count", what: "locks held by others" });
        return null;
      }
      const isInside = running.has(sessionId);
      report({ at: "locked", us: nowUs(), sessionId, token: lock.token, isInside });
      return watchLock(ledger, lock, attempt, report);
    },
  };
}

type Attempt = (tried: Tried, work: () => Promise<void>) => Promise<void>;

interface Watched {
  readonly ledger: Ledger;
  readonly opened: OpenTurn;
  /** The session's thread without the turn. */
  readonly earlier: readonly Item[];
  readonly attempt: Attempt;
  /** Sessions with a running turn. */
  readonly running: Set<string>;
}

function watchTurn({ ledger, opened, earlier: first, attempt, running }: Watched): OpenTurn {
  const { id, sessionId } = opened;
  let earlier = first;
  let ownFrom: number | null = null;
  const own = async (): Promise<readonly Item[]> =>
    readOwn(ledger, id, ownFrom ?? (await startOf(ledger, id)));
  return {
    ...opened,
    get parentTurnId() {
      return opened.parentTurnId;
    },
    release: () => {
      running.delete(sessionId);
      return opened.release();
    },
    compact: async (compaction, lock, events) => {
      const all = foldItems([...earlier, ...(await own())], compaction);
      const next = all.filter(({ turnId }) => turnId !== id);
      const tried = {
        sessionId,
        head: compaction.id,
        digest: digestItems(next),
        token: lock.token,
      };
      await attempt(tried, () => opened.compact(compaction, lock, events));
      earlier = next;
      if (compaction.details.firstKeptTurnId === id)
        ownFrom = compaction.details.firstKeptIndex ?? 0;
    },
    close: async (end, events) => {
      running.delete(sessionId);
      if (end.status !== "completed") return opened.close(end, events);
      const digest = digestItems([...earlier, ...(await own())]);
      return attempt({ sessionId, head: id, digest }, () => opened.close(end, events));
    },
  };
}

/** The first message of a turn that still counts, if the turn was compacted before it was taken over. */
async function startOf(ledger: Ledger, turnId: string): Promise<number> {
  const compaction = await ledger.findCompaction({ turnId });
  return compaction?.firstKeptTurnId === turnId ? compaction.firstKeptIndex : 0;
}

function watchLock(
  ledger: Ledger,
  lock: CompactionLock,
  attempt: Attempt,
  report: Report,
): CompactionLock {
  const { sessionId, token } = lock;
  return {
    ...lock,
    commit: async (compaction: NewCompaction, events) => {
      const items = foldItems(await readItems(ledger, sessionId), compaction);
      const tried = { sessionId, head: compaction.id, digest: digestItems(items), token };
      await attempt(tried, () => lock.commit(compaction, events));
      report({ at: "count", what: "folds" });
    },
  };
}
