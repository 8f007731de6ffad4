// A process that writes until it is killed. Reports on stdout before and after each commit.
import { setTimeout as wait } from "node:timers/promises";
import { createRandom } from "../../harness/random-message.ts";
import { nowUs, reportEvent } from "../../harness/worker-process.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import type { WriterEvent } from "./facts.ts";
import { playScene } from "./scenes.ts";
import { isConflict, type Stage } from "./stage.ts";

const report: (event: WriterEvent) => void = reportEvent;

export interface WriterTask {
  readonly where: string;
  readonly seed: number;
  readonly leaseMs: number;
  /** Sessions of this writer only. */
  readonly own: readonly string[];
  /** Sessions that other writers use too. */
  readonly shared: readonly string[];
}

try {
  await write(JSON.parse(process.argv[2] ?? "") as WriterTask);
} catch (error) {
  report({ at: "problem", message: error instanceof Error ? String(error.stack) : String(error) });
  process.exit(1);
}

async function write({ where, seed, leaseMs, own, shared }: WriterTask): Promise<void> {
  const ledger = await openLedger(where, { leaseMs });
  const random = createRandom(seed);
  let attempts = 0;
  const stage: Stage = {
    ledger,
    random,
    attempt: async (tried, work) => {
      const n = (attempts += 1);
      report({ at: "try", n, us: nowUs(), tried });
      try {
        await work();
      } catch (error) {
        if (!isConflict(error)) throw error;
        report({ at: "refused", n });
        return false;
      }
      report({ at: "done", n, us: nowUs() });
      return true;
    },
    count: (what) => report({ at: "count", what }),
    pause: (sessionId) => wait(shared.includes(sessionId) ? 50 + random() * 200 : 0),
    stall: (sessionId) => {
      if (!shared.includes(sessionId)) return;
      report({ at: "count", what: "stalled" });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, leaseMs * (1.1 + random() / 3));
    },
  };
  report({ at: "ready" });
  const mine = [...own];
  for (;;) {
    const sessions = shared.length > 0 && random() < 0.5 ? shared : mine;
    const forked = await playScene(stage, sessions[Math.floor(random() * sessions.length)] ?? "");
    if (forked !== null) mine.push(forked);
    // Lets timers run, and gives other writers a chance at a busy session.
    if (random() < 0.2) await wait(random() * 5);
  }
}
