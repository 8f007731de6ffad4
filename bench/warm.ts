// Recorded sessions with and without keeping them warm, on the simulator's billing.
import { atMost, exactly, UsageError, type Experiment, type Figure } from "../harness/report.ts";
import { findTraces, splitByRepository } from "../harness/traces.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import type { PolicyName } from "../src/core/cache/policy.ts";
import { loadO200k } from "../src/core/tokens/o200k/counter.ts";
import { priceSession, type PricedSession } from "./warm/price-session.ts";
import { readCalls, type RecordedCall } from "./warm/read-calls.ts";

/** Ours, and one that keeps nothing for longer than five minutes. */
const policies: readonly PolicyName[] = ["adaptive", "tail-5m"];

/** Of an hour. With less, no long prompt is refreshed: it might have to be written again. */
const budgetUsd = 3;
const budgetPicoUsd = BigInt(budgetUsd * 1e12);
const hourMs = 3_600_000;

export const experiment: Experiment = {
  summary: "recorded sessions with and without keeping them warm (needs --traces DIR)",
  async run({ traces, progress }) {
    if (traces === undefined) throw new UsageError("give --traces DIR with sessions/ or kv/ in it");
    const counter = await loadO200k();
    const figures: Record<string, Figure> = { "budget $/hour": budgetUsd };
    const all = new Map(policies.map((policy) => [policy, createSums()]));
    for (const [kind, folder] of Object.entries(findTraces(traces))) {
      for (const [index, { files }] of splitByRepository(folder).entries()) {
        progress(`${kind}, half ${index + 1}`);
        const half = new Map(policies.map((policy) => [policy, createSums()]));
        for (const file of files) {
          const calls = await readCalls(file, counter);
          for (const policy of policies) {
            const compared = compare(calls, policy);
            for (const sums of [half.get(policy), all.get(policy)]) sums?.add(compared);
          }
        }
        for (const [policy, sums] of half) {
          const name = `${policy}, ${kind}, half ${index + 1}`;
          figures[`${name}: acted in sessions of ${files.length}`] = sums.acted;
          figures[`${name}: sum`] = sums.ratio();
        }
      }
    }
    const sums = [...all.values()];
    for (const [policy, { acted, refreshes, ratio }] of all) {
      figures[`${policy}: acted in sessions`] = acted;
      figures[`${policy}: refreshes`] = refreshes;
      figures[`${policy}: sum`] = ratio();
    }
    const acted = sums.filter((each) => each.acted > 0);
    return {
      figures,
      // The worst policy counts.
      checks: [
        atMost("sum with keep-warm against without", worst(acted.map((each) => each.ratio())), 1),
        atMost("each session", worst(acted.map((each) => each.ratioMax)), 1.03),
        exactly(
          "spent above the budget",
          sums.reduce((sum, each) => sum + each.overBudget, 0),
          0,
        ),
      ],
    };
  },
};

function worst(ratios: readonly (number | null)[]): number | null {
  const known = ratios.filter((ratio) => ratio !== null);
  return known.length === 0 ? null : Math.max(...known);
}

interface Compared {
  readonly without: PricedSession;
  readonly kept: PricedSession;
}

function compare(calls: readonly RecordedCall[], policy: PolicyName): Compared {
  const { markers } = findPolicy(policy);
  return {
    without: priceSession(calls, markers, null),
    kept: priceSession(calls, markers, budgetPicoUsd),
  };
}

interface Sums {
  /** Sessions with at least one refresh. The other figures are about these. */
  acted: number;
  refreshes: number;
  ratioMax: number;
  /** Refreshes after which the last hour had cost more than the budget. */
  overBudget: number;
  readonly add: (compared: Compared) => void;
  readonly ratio: () => number | null;
}

function createSums(): Sums {
  let [without, kept] = [0n, 0n];
  const sums: Sums = {
    acted: 0,
    refreshes: 0,
    ratioMax: 0,
    overBudget: 0,
    add: (compared) => {
      const { refreshes } = compared.kept;
      if (refreshes.length === 0) return;
      const spent = refreshes.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n);
      const cost = compared.kept.callsPicoUsd + spent;
      sums.acted += 1;
      sums.refreshes += refreshes.length;
      sums.ratioMax = Math.max(sums.ratioMax, Number(cost) / Number(compared.without.callsPicoUsd));
      sums.overBudget += countOver(refreshes);
      without += compared.without.callsPicoUsd;
      kept += cost;
    },
    ratio: () => (without === 0n ? null : Number(kept) / Number(without)),
  };
  return sums;
}

function countOver(refreshes: PricedSession["refreshes"]): number {
  return refreshes.filter(({ atMs }) => {
    const inHour = refreshes.filter((each) => each.atMs > atMs - hourMs && each.atMs <= atMs);
    return inHour.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n) > budgetPicoUsd;
  }).length;
}
