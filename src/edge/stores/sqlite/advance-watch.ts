// Notifies when a session's pointer moved, at least once: immediately in this process, shortly after in others
// on the file.
import type { Prepare } from "./run-commit.ts";
import { isBusy } from "./sqlite-errors.ts";

export interface AdvanceWatch {
  subscribe(handler: (sessionId: string) => void): () => void;
  notify(sessionIds: readonly string[]): void;
  close(): void;
}

const lookEveryMs = 200;

/** The number of sessions examined. More do not move between two checks. */
const sessionsMax = 500;

export function watchAdvance(
  prepare: Prepare,
  onProblem: (problem: unknown) => void,
): AdvanceWatch {
  const handlers = new Set<(sessionId: string) => void>();
  let timer: NodeJS.Timeout | undefined;
  let version = 0;
  let moves: ReadonlyMap<string, number> = new Map();
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const notify = (sessionIds: readonly string[]): void => {
    for (const id of sessionIds) {
      for (const handler of handlers) isolated(() => handler(id), onProblem);
    }
  };
  const look = (): void => {
    const now = dataVersion(prepare);
    // Changes only when another connection committed.
    if (now === version) return;
    const seen = moves;
    moves = latestMoves(prepare);
    version = now;
    notify([...moves].filter(([id, count]) => seen.get(id) !== count).map(([id]) => id));
  };
  return {
    subscribe: (handler) => {
      handlers.add(handler);
      if (timer === undefined) {
        version = dataVersion(prepare);
        moves = latestMoves(prepare);
        timer = setInterval(() => isolated(look, onProblem), lookEveryMs).unref();
      }
      return () => {
        handlers.delete(handler);
        if (handlers.size === 0) stop();
      };
    },
    notify,
    close: stop,
  };
}

/** A handler cannot make a commit fail. A file that is locked now is read next time. */
function isolated(work: () => unknown, onProblem: (problem: unknown) => void): void {
  const report = (error: unknown): void => {
    if (!isBusy(error)) onProblem(error);
  };
  try {
    // A handler may be asynchronous, whatever its type says.
    Promise.resolve(work()).catch(report);
  } catch (error) {
    report(error);
  }
}

function dataVersion(prepare: Prepare): number {
  return Number(prepare("PRAGMA data_version").get()?.["data_version"] ?? 0);
}

function latestMoves(prepare: Prepare): ReadonlyMap<string, number> {
  const rows = prepare(
    "SELECT id, move_count FROM sessions ORDER BY updated_ms DESC, id DESC LIMIT ?",
  ).all(sessionsMax);
  return new Map(rows.map(({ id, move_count: count }) => [String(id), Number(count)]));
}
