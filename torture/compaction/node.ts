// A node that works until it is killed. Reports on stdout before and after each commit.
import { setTimeout as wait } from "node:timers/promises";
import { createRandom } from "../../harness/random-message.ts";
import { reportEvent } from "../../harness/worker-process.ts";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openDatabase } from "../../src/edge/stores/open-ledger.ts";
import { plantFault, type PlantedFault } from "./faults.ts";
import type { NodeEvent } from "./node-event.ts";
import { watchLedger } from "./watch-ledger.ts";
import { createWorker } from "./work.ts";

const report: (event: NodeEvent) => void = reportEvent;

export interface NodeTask {
  readonly where: string;
  readonly seed: number;
  readonly leaseMs: number;
  readonly providerUrl: string;
  readonly sessions: readonly string[];
  readonly summaryMsMax: number;
  readonly compactionsFirst: boolean;
  readonly fault: PlantedFault | null;
}

try {
  await run(JSON.parse(process.argv[2] ?? "") as NodeTask);
} catch (error) {
  report({ at: "problem", message: error instanceof Error ? String(error.stack) : String(error) });
  process.exit(1);
}

async function run(task: NodeTask): Promise<void> {
  const { where, seed, leaseMs, providerUrl, sessions, summaryMsMax, compactionsFirst, fault } =
    task;
  const database = plantFault(await openDatabase(where), fault);
  const ledger = watchLedger(await createLedger(database, { leaseMs }), report);
  const random = createRandom(seed);
  const count = (what: (NodeEvent & { at: "count" })["what"]): void =>
    report({ at: "count", what });
  const worker = createWorker({
    ledger,
    providerUrl,
    random,
    count,
    summaryMsMax,
    compactionsFirst,
  });
  report({ at: "ready" });
  for (;;) {
    await worker.work(sessions[Math.floor(random() * sessions.length)] ?? "");
    // Lets timers run, and gives other nodes a chance at a busy session.
    await wait(random() * 5);
  }
}
