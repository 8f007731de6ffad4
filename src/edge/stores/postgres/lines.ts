// The connections of a pool. The one used last stays at hand for the work that follows at once.
import type * as Driver from "pg";
import { assert } from "../../../core/assert.ts";
import type { ClientRun } from "./run-statements.ts";

/** Messages of the server besides the answer. The codes of warnings begin with 01. */
export interface Notice {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly detail?: string | undefined;
}

/** A connection, from its start on. */
export interface Line extends ClientRun {
  readonly client: Driver.PoolClient;
  isBroken: boolean;
  /** Set by the work that uses the connection. */
  onNotice: (notice: Notice) => void;
}

export interface Lines {
  readonly open: ReadonlySet<Driver.Client>;
  /** Does not wait for the pool, which sets timers for every use. Null if there is none. */
  takeSpare(): Line | null;
  connect(): Promise<Line>;
  giveBack(line: Line): void;
  stop(): void;
}

export const ignore = (): void => {};

/** A connection that is not used for this long goes back to the pool, which closes it later. */
const spareForMs = 1000;

export function openLines(
  pool: Driver.Pool,
  toRun: (client: Driver.Client) => ClientRun,
  onLost: (error: unknown) => void,
): Lines {
  // Also of connections that ended a moment ago: their next statement says so.
  const lines = new WeakMap<Driver.Client, Line>();
  const open = new Set<Driver.Client>();
  let spare: Line | null = null;
  let isStopped = false;
  let wasTaken = false;
  const takeSpare = (): Line | null => {
    const line = spare;
    spare = null;
    if (line !== null) wasTaken = true;
    return line;
  };
  pool.on("connect", (client) => {
    const line: Line = { ...toRun(client), client, isBroken: false, onNotice: ignore };
    lines.set(client, line);
    open.add(client);
    client.on("end", () => open.delete(client));
    client.on("notice", (notice) => line.onNotice(notice));
    client.on("error", (error) => {
      line.isBroken = true;
      if (spare !== line) return;
      takeSpare();
      client.release(true);
      onLost(error);
    });
  });
  const timer = setInterval(() => {
    if (!wasTaken) takeSpare()?.client.release();
    wasTaken = false;
  }, spareForMs).unref();
  return {
    open,
    takeSpare,
    connect: async () => {
      const line = lines.get(await pool.connect());
      assert(line !== undefined, "a connection is known from its start");
      return line;
    },
    giveBack: (line) => {
      // A new connection starts without prepared statements.
      const isOver = line.isBroken || line.isFull();
      const isKept = !isOver && !isStopped && spare === null && pool.waitingCount === 0;
      if (isKept) spare = line;
      else line.client.release(isOver);
    },
    stop: () => {
      isStopped = true;
      clearInterval(timer);
      takeSpare()?.client.release();
    },
  };
}
