// Finds connections whose answer never comes, and spares those whose statement only takes long.
import { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "pg";
import type { ResultRow } from "../sql/database.ts";
import { endClient, hangUp, withinTime } from "./deadline.ts";
import { isServersWord } from "./postgres-errors.ts";

export interface SilenceWatch {
  /** Call it for every statement sent, with its length. Returns the function to call on the answer. */
  sent(client: Client, characters: () => number): () => void;
  /** Sets the server's process id of a connection. */
  know(client: Client, pid: number): void;
  stop(): void;
}

export interface SilenceOptions {
  /** How long a connection may be silent before the server is asked. */
  readonly forMs: number;
  /** How long the server may take to say what it works on. */
  readonly askForMs: number;
  /** Opens another connection to ask it. */
  readonly connect: () => Promise<Client>;
}

interface Line {
  readonly client: Client;
  /** The lengths of statements sent and not answered. */
  readonly unanswered: Set<() => number>;
  /** At the last sign of life. */
  bytes: number;
  sinceMs: number;
}

/** The slowest usable link. */
const charactersPerMs = 50;
/** An answer may still be on its way when the server reports it as done. */
const graceMsMax = 1000;

export function watchSilence({ forMs, askForMs, connect }: SilenceOptions): SilenceWatch {
  const lines = new Map<Client, Line>();
  const pids = new WeakMap<Client, number>();
  let isAsking = false;
  const isSilent = (line: Line): boolean => {
    const bytes = bytesMoved(line.client);
    if (bytes !== line.bytes) Object.assign(line, { bytes, sinceMs: performance.now() });
    const characters = [...line.unanswered].reduce((sum, lengthOf) => sum + lengthOf(), 0);
    return performance.now() - line.sinceMs >= forMs + characters / charactersPerMs;
  };
  const ask = async (silent: readonly Line[]): Promise<void> => {
    const asked = silent.flatMap(({ client }) => pids.get(client) ?? []);
    const atWork = await findAtWork(connect, askForMs, asked).catch(() => new Set<number>());
    await wait(Math.min(graceMsMax, forMs), undefined, { ref: false });
    for (const line of silent) {
      // It was answered or made progress meanwhile.
      if (lines.get(line.client) !== line || !isSilent(line)) continue;
      if (atWork === null || atWork.has(pids.get(line.client) ?? 0)) {
        line.sinceMs = performance.now();
      } else hangUp(line.client, forMs);
    }
  };
  const look = async (): Promise<void> => {
    const silent = [...lines.values()].filter(isSilent);
    if (isAsking || silent.length === 0) return;
    isAsking = true;
    await ask(silent);
    isAsking = false;
  };
  const timer = setInterval(() => void look(), Math.max(10, forMs / 4)).unref();
  return {
    sent: (client, characters) => {
      const line = lines.get(client) ?? newLine(client);
      lines.set(client, line);
      line.unanswered.add(characters);
      return () => {
        line.unanswered.delete(characters);
        line.sinceMs = performance.now();
        if (line.unanswered.size === 0) lines.delete(client);
      };
    },
    know: (client, pid) => {
      pids.set(client, pid);
    },
    stop: () => clearInterval(timer),
  };
}

function newLine(client: Client): Line {
  const sinceMs = performance.now();
  return { client, unanswered: new Set(), bytes: bytesMoved(client), sinceMs };
}

/** Bytes received, and bytes the system accepted for sending. */
function bytesMoved({ connection: { stream } }: Client): number {
  if (!(stream instanceof Socket)) return 0;
  return stream.bytesRead + stream.bytesWritten - stream.writableLength;
}

/** A server configured to hide activity counts as working. */
const atWorkSql = `SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1::int[])
  AND (state = 'disabled' OR state = 'active' AND wait_event_type IS DISTINCT FROM 'Client')`;

/** Which of these connections the server works for, by process id. Null if the server refuses to say. Throws if it cannot be reached. */
async function findAtWork(
  connect: () => Promise<Client>,
  forMs: number,
  pids: readonly number[],
): Promise<ReadonlySet<number> | null> {
  try {
    const client = await connect();
    try {
      const { rows } = await withinTime(client, forMs, () =>
        client.query<ResultRow>(atWorkSql, [pids]),
      );
      return new Set(rows.map(({ pid }) => Number(pid)));
    } finally {
      void endClient(client, forMs);
    }
  } catch (error) {
    // A refusal is also an answer.
    if (isServersWord(error)) return null;
    throw error;
  }
}
