// Receives from all nodes which session's pointer moved, on its own connection that reconnects when lost.
import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "pg";
import { advancedChannel } from "./compose-commit.ts";
import { endClient, hangUp, withinTime } from "./deadline.ts";
import { backoffMs } from "./retry.ts";

export interface Listener {
  subscribe(handler: (sessionId: string) => void): () => void;
  close(): Promise<void>;
}

export interface ListenerOptions {
  readonly connect: () => Promise<Client>;
  /** A connection without a sign of life for twice as long is dropped. */
  readonly silentForMs: number;
  readonly onLost: (error: unknown) => void;
  readonly onHandlerFailed: (error: unknown) => void;
  /** Sessions that may have moved since then. Called after a lost connection, when moves went unheard. */
  readonly movedSince: (timeMs: number) => Promise<readonly string[]>;
}

/** Covers how long a dead connection goes unnoticed, and how far the nodes' clocks differ. */
const marginMs = 300_000;

/** Reports every move at least once. After a lost connection, some are reported again. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { silentForMs } = options;
  const handlers = new Set<(sessionId: string) => unknown>();
  let client: Client | undefined;
  let isClosed = false;
  const notify = (sessionId: string): void => {
    for (const handler of handlers) void callAlone(handler, sessionId, options.onHandlerFailed);
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
    fresh.on("notification", ({ payload }) => notify(payload ?? ""));
    fresh.on("error", onEnd);
    fresh.on("end", onEnd);
    client = fresh;
    try {
      await withinTime(fresh, silentForMs, () => fresh.query(`LISTEN ${advancedChannel}`));
      isListening = true;
      checkLife(fresh, silentForMs);
    } finally {
      if (!isListening || isClosed) await endClient(fresh, silentForMs);
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
        for (const id of await options.movedSince(lostMs - marginMs)) notify(id);
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
      if (client !== undefined) await endClient(client, silentForMs);
    },
  };
}

/** A listening connection does not notice a stalled network by itself. */
function checkLife(client: Client, everyMs: number): void {
  let isAnswered = true;
  const timer = setInterval(() => {
    if (!isAnswered) return hangUp(client, everyMs);
    isAnswered = false;
    client.query("SELECT 1").then(
      () => (isAnswered = true),
      () => clearInterval(timer),
    );
  }, everyMs).unref();
  client.on("end", () => clearInterval(timer));
}

/** One failing handler does not keep the others from being called. */
async function callAlone(
  handler: (sessionId: string) => unknown,
  sessionId: string,
  onFailed: (error: unknown) => void,
): Promise<void> {
  try {
    await handler(sessionId);
  } catch (error) {
    onFailed(error);
  }
}
