// Hears from all nodes which session's pointer moved, on a connection of its own that comes back when it is lost.
import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "pg";
import { advancedChannel } from "./compose-commit.ts";
import { backoffMs } from "./retry.ts";

export interface Listener {
  subscribe(handler: (sessionId: string) => void): () => void;
  close(): Promise<void>;
}

export interface ListenerOptions {
  readonly connect: () => Promise<Client>;
  readonly onLost: (error: unknown) => void;
  /** Sessions that may have moved since then; asked after a connection was lost, when nobody heard of moves. */
  readonly movedSince: (timeMs: number) => Promise<readonly string[]>;
}

/** Covers how long a dead connection stays unnoticed, and how far the clocks of the nodes are apart. */
const marginMs = 300_000;

/** Every move is told at least once; after a lost connection some are told that were known already. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const handlers = new Set<(sessionId: string) => void>();
  let client: Client | undefined;
  let isClosed = false;
  const tell = (sessionId: string): void => {
    for (const handler of handlers) handler(sessionId);
  };
  const listen = async (): Promise<void> => {
    const fresh = await options.connect();
    let isListening = false;
    const onEnd = (error?: Error): void => {
      if (!isListening || isClosed) return;
      isListening = false;
      options.onLost(error ?? new Error("Connection terminated"));
      void comeBack(Date.now());
    };
    fresh.on("notification", ({ payload }) => tell(payload ?? ""));
    fresh.on("error", onEnd);
    fresh.on("end", onEnd);
    client = fresh;
    try {
      await fresh.query(`LISTEN ${advancedChannel}`);
      isListening = true;
    } finally {
      if (!isListening || isClosed) await fresh.end();
    }
  };
  const comeBack = async (lostMs: number): Promise<void> => {
    let isListening = false;
    for (let attempt = 0; ; attempt += 1) {
      await wait(backoffMs(attempt), undefined, { ref: false });
      if (isClosed) return;
      try {
        if (!isListening) await listen();
        isListening = true;
        for (const id of await options.movedSince(lostMs - marginMs)) tell(id);
        return;
      } catch (error) {
        options.onLost(error);
      }
    }
  };
  await listen();
  return {
    subscribe: (handler) => {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    close: async () => {
      isClosed = true;
      await client?.end();
    },
  };
}
