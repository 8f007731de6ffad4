// Events: the time an emitter waits, and one event stored alone, on SQLite with full durability.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { median, quantile } from "../harness/measure.ts";
import { atMost, type Experiment } from "../harness/report.ts";
import type { DraftOf, StrataEvent } from "../src/core/events/event.ts";
import type { Ledger } from "../src/core/ledger/ledger.ts";
import { createEventBus } from "../src/edge/events/event-bus.ts";
import { createMetrics } from "../src/edge/exporters/metrics.ts";
import { openLedger } from "../src/edge/stores/open-ledger.ts";

const warmUps = 2_000;
const emits = 20_000;
/** Emits between two waits for the store, as in a busy turn. */
const burst = 500;
const inserts = 400;

export const experiment: Experiment = {
  summary: "emitting an event with metrics and a store behind it, and storing one event alone",
  async run({ progress }) {
    const folder = mkdtempSync(join(tmpdir(), "strata-bench-events-"));
    const ledger = await openLedger(join(folder, "ledger.db"));
    try {
      progress(`${emits} emits`);
      const { us, events } = await timeEmits(ledger);
      progress(`${inserts} inserts`);
      const ms = await timeInserts(ledger, events, join(folder, "bare.db"));
      return {
        figures: {
          "emit us p50": median(us),
          "emit us p95": quantile(us, 0.95),
          "insert alone ms p50": median(ms.ours),
          "insert alone ms p95": quantile(ms.ours, 0.95),
          "bare insert ms p95": quantile(ms.bare, 0.95),
        },
        checks: [
          atMost("emit us p95", quantile(us, 0.95), 100),
          // The disk decides how long a durable write takes.
          atMost("insert alone against a bare one, p50", median(ms.ours) / median(ms.bare), 1.5),
        ],
      };
    } finally {
      await ledger.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

const draft = (number: number): DraftOf<"tool.called"> => ({
  type: "tool.called",
  sessionId: "bench",
  turnId: "turn-1",
  payload: {
    tool_use_id: `toolu_${number}`,
    tool_name: "read",
    input_hash: "0123456789abcdef".repeat(4),
    input_size_bytes: 48,
    side_effects: "read",
  },
});

async function timeEmits(ledger: Ledger) {
  const problems: unknown[] = [];
  const bus = createEventBus({ store: ledger, onProblem: (problem) => problems.push(problem) });
  const metrics = createMetrics({ agentOf: () => "bench" });
  bus.subscribe((event) => metrics.observe(event));
  const us: number[] = [];
  for (let number = 0; number < warmUps + emits; number += 1) {
    const start = performance.now();
    bus.emit(draft(number));
    if (number >= warmUps) us.push((performance.now() - start) * 1000);
    if (number % burst === 0) await bus.flush();
  }
  const events = Array.from({ length: inserts }, (_, number) => bus.prepare(draft(number)));
  await bus.close();
  if (problems.length > 0) throw new Error(`the bus reported ${JSON.stringify(problems[0])}`);
  return { us, events };
}

/** One event per transaction, in turn with the same row written by SQL alone. */
async function timeInserts(ledger: Ledger, events: readonly StrataEvent[], bareFile: string) {
  const bare = new DatabaseSync(bareFile);
  bare.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  bare.exec("CREATE TABLE events (id TEXT PRIMARY KEY, at BIGINT, type TEXT, payload TEXT)");
  const insert = bare.prepare("INSERT INTO events VALUES (?, ?, ?, ?)");
  const [ours, alone]: [number[], number[]] = [[], []];
  for (const event of events) {
    const start = performance.now();
    await ledger.appendEvents([event]);
    const between = performance.now();
    insert.run(event.id, event.timestampUs, event.type, JSON.stringify(event.payload));
    ours.push(between - start);
    alone.push(performance.now() - between);
  }
  bare.close();
  return { ours, bare: alone };
}
