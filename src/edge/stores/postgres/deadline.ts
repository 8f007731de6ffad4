// Drops connections that do not answer: a stalled network gives no error of its own.
import type { Client } from "pg";

/** Everything that waits for the connection fails as if it was lost. */
export function hangUp(client: Client, afterMs: number): void {
  const error = new Error(`Connection terminated: no answer for ${afterMs / 1000} s`);
  client.connection.stream.destroy(error);
}

/** For work that is quick on any network. */
export async function withinTime<T>(
  client: Client,
  forMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setTimeout(() => hangUp(client, forMs), forMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

/** Ends the connection without waiting forever for the reply. */
export function endClient(client: Client, forMs: number): Promise<void> {
  return withinTime(client, forMs, () => client.end());
}
