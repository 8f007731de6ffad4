// Exchanges through a gateway where everything fails: its own steps, its ledger, its clock, upstreams and clients.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  atLeast,
  atMost,
  exactly,
  wholeNumber,
  type Check,
  type Experiment,
} from "../harness/report.ts";
import { runExchanges, type Tortured } from "./gateway/run-exchanges.ts";

export const experiment: Experiment = {
  summary:
    "everything around the gateway fails: clients see what the upstream said, and every billed token is counted",
  options: {
    requests: "how many, 10000 by default",
    seed: "where to start, 1 by default",
    only: "only the exchange with this number",
  },
  async run(settings) {
    const requests = wholeNumber(settings, "requests", 10_000);
    const seed = wholeNumber(settings, "seed", 1);
    const only = settings.options["only"] === undefined ? null : wholeNumber(settings, "only", 1);
    const folder = mkdtempSync(join(tmpdir(), "strata-gateway-"));
    try {
      const run = await runExchanges({
        folder,
        requests,
        seed,
        only,
        progress: settings.progress,
      });
      for (const problem of problemsOf(run).slice(0, shownMax)) {
        settings.progress(`PROBLEM ${problem}`);
      }
      return { figures: figuresOf(run, seed), checks: checksOf(run, only === null ? requests : 1) };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

const shownMax = 20;

function problemsOf(run: Tortured): readonly string[] {
  return [...run.misheard, ...run.misarrived, ...run.misrecorded, ...run.crashes];
}

function figuresOf(run: Tortured, seed: number): Record<string, number | null> {
  return {
    seed,
    "exchanges with a billed answer": run.billed,
    "of them in the ledger": run.billedInLedger,
    "calls recorded": run.recorded,
    "calls lost and counted": run.lost,
    "faults of the observer, counted": run.faults,
    "exchanges while the observer was left out": run.unseen,
    "heap KB per exchange": run.heapKbPerExchange,
    ...Object.fromEntries(run.struck),
  };
}

function checksOf(run: Tortured, requests: number): readonly Check[] {
  return [
    atLeast("exchanges", run.exchanges, requests),
    exactly(
      "clients that saw something else than the upstream's answer or failure",
      run.misheard.length,
      0,
    ),
    exactly("requests that arrived otherwise, or were smuggled", run.misarrived.length, 0),
    exactly("crashes", run.crashes.length, 0),
    exactly("exchanges that never ended", run.openAtEnd, 0),
    exactly("sockets left open", run.leakedSockets, 0),
    exactly(
      "billed tokens otherwise in the ledger, or missing without being counted",
      run.misrecorded.length,
      0,
    ),
    atLeast("billed answers in the ledger", run.billedInLedger, run.billed / 3),
    exactly("calls neither recorded nor lost", run.taken - run.recorded - run.lost, 0),
    // A short run does not show a trend, and may miss a kind.
    ...(requests < 3000
      ? []
      : [
          atMost("heap that stays, KB per exchange", run.heapKbPerExchange, 1),
          atLeast("kinds of clients, answers, faults and disturbances", run.struck.size, 38),
        ]),
  ];
}
