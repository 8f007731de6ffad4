// Goal: whatever a provider does, a turn ends in a reply or in a clear failure on record. Method: 100 turns on a simulator
// that fails every other request in one of its ways; then the ledger, the events and every text are looked at.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkTrace } from "../../src/core/events/check-trace.ts";
import { createEcho, type FaultSpec } from "../../src/simulator/index.ts";
import { eventsOf, makePlace, plantedKey, readAll, serve, start } from "./test-kit.ts";

const faults: readonly FaultSpec[] = [
  {
    kind: "random",
    probability: 0.5,
    seed: 7,
    of: [
      { kind: "rate limited", retryAfterSeconds: 0 },
      { kind: "rate limited", retryAfterSeconds: 3600 },
      { kind: "overloaded" },
      { kind: "server error" },
      { kind: "slow first byte", delayMs: 20 },
      { kind: "slow first byte", delayMs: 10_000 },
      { kind: "cut", afterEvents: 0 },
      { kind: "cut", afterEvents: 4 },
      { kind: "malformed", afterEvents: 4 },
      { kind: "stall", afterEvents: 4 },
    ],
  },
];

test("100 turns with faults end in a reply or a clear failure on record, and the key is nowhere", async () => {
  const place = makePlace();
  const { url, simulator } = await serve({ model: createEcho(), faults });
  place.configure(`
models: { default: claude-sonnet-4-6 }
providers:
  anthropic:
    base_url: ${url}
    api_key: ${plantedKey}
    timeouts: { first_byte_ms: 150, idle_ms: 150 }
    retries: { attempts_max: 2, backoff_ms_base: 1, backoff_ms_max: 2 }
`);
  const started = await start(place);
  const { engine, ledger, metrics, notices } = started;
  const session = await engine.open({ id: "s" });
  const kinds = new Map<string, number>();
  for (let turn = 0; turn < 100; turn += 1) {
    const { end, calls } = await session.run(`Turn ${turn}.`, { id: `turn-${turn}` }).result;
    const failure = calls.at(-1)?.failure ?? null;
    const record = await ledger.findTurn(`turn-${turn}`);
    expect(record?.status).toBe(end === "done" ? "completed" : "failed");
    if (end === "done") continue;
    expect(["failed", "cut off"]).toContain(end);
    expect(failure?.detail ?? "").not.toBe("");
    kinds.set(failure?.kind ?? "none", (kinds.get(failure?.kind ?? "none") ?? 0) + 1);
  }
  expect([...kinds.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(10);
  expect([...kinds.keys()]).not.toContain("none");

  const events = await eventsOf(started, "s");
  expect(checkTrace(events)).toEqual([]);
  const ends = events.filter(({ type }) => type === "turn.completed" || type === "turn.failed");
  expect(ends).toHaveLength(100);
  expect(await readAll(ledger.check())).toEqual([]);
  expect(simulator.calls().length).toBeGreaterThan(100);

  const told = JSON.stringify(events) + notices.join("\n") + (await metrics.render());
  expect(told).not.toContain(plantedKey);
  await started.close();
  for (const name of readdirSync(place.folder).filter((each) => each.startsWith("ledger.db"))) {
    expect(readFileSync(join(place.folder, name)).includes(plantedKey)).toBe(false);
  }
});
