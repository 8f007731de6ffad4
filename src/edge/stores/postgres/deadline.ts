// Hanging up where nobody answers: a network that stalls gives no error of its own.
import type { Client } from "pg";

/** Whatever waits for the connection fails as with any other that was lost. */
export function hangUp(client: Client, afterMs: number): void {
  const error = new Error(`Connection terminated: no answer for ${afterMs / 1000} s`);
  client.connection.stream.destroy(error);
}

/** For work that is quick wherever the network is. */
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

/** Says goodbye, and does not wait for ever to hear it back. */
export function endClient(client: Client, forMs: number): Promise<void> {
  return withinTime(client, forMs, () => client.end());
}
