// Simulated calls on every protocol through the gateway: the ledger's dollars are the simulator's bill, to the pico-dollar.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atLeast, exactly, wholeNumber, type Experiment } from "../harness/report.ts";
import { runMoney, type Lane } from "./gateway/run-money.ts";

export const experiment: Experiment = {
  summary:
    "calls on every protocol, streamed, aborted, retried, threaded: the ledger's dollars are the bill",
  options: {
    calls: "how many, 100000 by default",
    seed: "where to start, 1 by default",
  },
  async run(settings) {
    const calls = wholeNumber(settings, "calls", 100_000);
    const seed = wholeNumber(settings, "seed", 1);
    const folder = mkdtempSync(join(tmpdir(), "strata-gateway-money-"));
    try {
      const store = join(folder, "ledger.db");
      const { lanes, lostCount } = await runMoney({ store, calls, seed, ...settings });
      const wrong = lanes.flatMap((lane) => differencesIn(lane));
      for (const line of wrong.slice(0, 10)) settings.progress(`PROBLEM ${line}`);
      const count = (of: (lane: Lane) => number): number =>
        lanes.reduce((sum, lane) => sum + of(lane), 0);
      return {
        figures: {
          seed,
          protocols: lanes.length,
          "billed, dollars": dollars(lanes.flatMap(({ owed }) => owed)),
          "in the ledger, dollars": dollars(lanes.flatMap(({ recorded }) => recorded)),
          "calls that completed": count(({ owed }) => owed.length),
          streamed: count(({ streamed }) => streamed),
          aborted: count(({ aborted }) => aborted),
          "failed and retried": count(({ failed }) => failed),
          "threads continued": count(({ threaded }) => threaded),
        },
        checks: [
          atLeast(
            "calls",
            count(({ sent }) => sent),
            calls,
          ),
          atLeast(
            "calls that completed",
            count(({ owed }) => owed.length),
            calls / 2,
          ),
          exactly("calls that cost otherwise in the ledger", wrong.length, 0),
          exactly(
            "calls that are not in the ledger",
            count(({ sent, calls: seen }) => sent - seen),
            0,
          ),
          exactly("calls lost", lostCount, 0),
          ...lanes.map(({ name, owed }) =>
            atLeast(`${name}: calls that completed`, owed.length, calls / lanes.length / 2),
          ),
        ],
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** What is in one list of costs and not in the other. Each cost of a conversation has its own place in the order. */
function differencesIn({ name, owed, left: maybe, recorded }: Lane): readonly string[] {
  const left = new Map<bigint, number>();
  for (const cost of owed) left.set(cost, (left.get(cost) ?? 0) + 1);
  for (const cost of recorded) left.set(cost, (left.get(cost) ?? 0) - 1);
  for (const cost of maybe) {
    const more = left.get(cost) ?? 0;
    if (more < 0) left.set(cost, more + 1);
  }
  return [...left].flatMap(([cost, count]) => {
    if (count === 0) return [];
    const side = count > 0 ? "the bill" : "the ledger";
    return [`${name}: ${cost} pico-dollars ${Math.abs(count)} times more in ${side}`];
  });
}

function dollars(costs: readonly bigint[]): number {
  return Number(costs.reduce((sum, cost) => sum + cost, 0n)) / 1e12;
}
