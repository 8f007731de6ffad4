// For test servers that repeat a key because a provider might.
import type { ServerResponse } from "node:http";

const spoken = new WeakSet<ServerResponse>();

/** Marks a hostile answer: planted secrets in it do not count as leaks. */
export function speakOnPurpose(response: ServerResponse): void {
  spoken.add(response);
}

export function isSpokenOnPurpose(response: ServerResponse): boolean {
  return spoken.has(response);
}
