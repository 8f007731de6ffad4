// Goal: a gateway on SQLite goes on after a restart as if there had been none. Method: the same clients with and without a restart
// in the middle of their conversations, before one simulator each, with a clock of the test's own.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";
import { openNodes, verdictsOf } from "./nodes-kit.ts";
import { plays, stopClock } from "./optimize-kit.ts";

const startMs = Date.UTC(2026, 10, 16, 9);

/** `restartsAt`: before which calls the gateway is stopped and started again. */
async function play(
  name: string,
  isOptimizing: boolean,
  restartsAt: readonly number[],
): Promise<readonly ObservedCall[]> {
  const folder = mkdtempSync(join(tmpdir(), "strata-restart-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  vi.setSystemTime(startMs);
  const nodes = await openNodes({ count: 1, store: join(folder, "ledger.db"), isOptimizing });
  let sent = 0;
  await plays[name]?.(nodes.url, async (atSeconds) => {
    await nodes.until(sent);
    if (restartsAt.includes(sent)) await nodes.restart();
    sent += 1;
    vi.setSystemTime(startMs + atSeconds * 1000);
  });
  await nodes.until(sent);
  return nodes.calls;
}

const played = [
  "a program without any markers",
  "a coding agent that marks its system text and its last message",
  "OpenAI without any",
];

test.each(played)("%s: the verdicts after a restart are those without one", async (name) => {
  stopClock();
  const without = await play(name, false, []);
  const restarted = await play(name, false, [3, 7]);
  expect(verdictsOf(restarted)).toEqual(verdictsOf(without));
  expect(new Set(restarted.map(({ conversation }) => conversation.id)).size).toBe(1);
  expect(restarted.filter(({ explanation }) => explanation?.cause === "first call")).toHaveLength(
    1,
  );
});

test.each(played.slice(0, 2))("%s: after a restart our markers read as much", async (name) => {
  stopClock();
  const without = await play(name, true, []);
  const restarted = await play(name, true, [3, 7]);
  expect(readsOf(restarted)).toEqual(readsOf(without));
  expect(restarted.map(({ policy }) => policy)).toEqual(without.map(({ policy }) => policy));
});

function readsOf(calls: readonly ObservedCall[]): readonly (number | undefined)[] {
  return calls.map(({ usage }) => usage?.cacheReadTokens);
}
