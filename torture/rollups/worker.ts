// The process that is killed. It reports what it finished on stdout.
import { createRandom } from "../../harness/random-message.ts";
import { reportEvent } from "../../harness/worker-process.ts";
import { StrataError } from "../../src/core/strata-error.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { workOnce, type WorkerEvent, type WorkerTask } from "./work.ts";

const report: (event: WorkerEvent) => void = reportEvent;

try {
  await work(JSON.parse(process.argv[2] ?? "") as WorkerTask);
} catch (error) {
  report({ at: "problem", message: error instanceof Error ? String(error.stack) : String(error) });
  process.exit(1);
}

async function work({ where, seed, role, endMs }: WorkerTask): Promise<void> {
  const ledger = await openLedger(where);
  const random = createRandom(seed);
  report({ at: "ready" });
  for (;;) {
    try {
      await workOnce({ ledger, random, endMs }, role);
    } catch (error) {
      // Others delete what this one works on.
      const isMeant =
        error instanceof StrataError && (error.code === "conflict" || error.code === "not-found");
      if (!isMeant) throw error;
    }
    report({ at: "done" });
  }
}
