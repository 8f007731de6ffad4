// Servers in tests that repeat a key because a provider might.
import type { ServerResponse } from "node:http";

const spoken = new WeakSet<ServerResponse>();

/** For a hostile answer: what it says of a planted secret is the test's own doing. */
export function speakOnPurpose(response: ServerResponse): void {
  spoken.add(response);
}

export function isSpokenOnPurpose(response: ServerResponse): boolean {
  return spoken.has(response);
}
