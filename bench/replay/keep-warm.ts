// Recorded traces under adaptive, with a budget for keeping sessions warm and without. Refreshes are paid, and none knows what comes.
import { below, type Check, type Figure } from "../../harness/report.ts";
import { splitByRepository } from "../../harness/traces.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import type { TextCounter } from "../../src/core/tokens/o200k/counter.ts";
import { priceSession } from "../warm/price-session.ts";
import { readCalls } from "../warm/read-calls.ts";

/** $3 an hour: even a refresh of a long prompt that must be written again is within it. */
const budgetPicoUsd = 3_000_000_000_000n;

/** Costs in all sessions, also in those where no refresh was sent. */
interface Costs {
  without: bigint;
  kept: bigint;
  refreshes: number;
}

/** `kind`: the name of the folder, for the figures. Each half of the traces has its own figure. */
export async function measureKeepWarm(
  kind: string,
  folder: string,
  counter: TextCounter,
): Promise<{
  readonly figures: Readonly<Record<string, Figure>>;
  readonly checks: readonly Check[];
}> {
  const { markers } = findPolicy("adaptive");
  const all: Costs = { without: 0n, kept: 0n, refreshes: 0 };
  const figures: Record<string, Figure> = {};
  for (const [index, { files }] of splitByRepository(folder).entries()) {
    const half: Costs = { without: 0n, kept: 0n, refreshes: 0 };
    for (const file of files) {
      const calls = await readCalls(file, counter);
      const plain = priceSession(calls, markers, null);
      const warm = priceSession(calls, markers, budgetPicoUsd);
      const spent = warm.refreshes.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n);
      for (const costs of [half, all]) {
        costs.without += plain.callsPicoUsd;
        costs.kept += warm.callsPicoUsd + spent;
        costs.refreshes += warm.refreshes.length;
      }
    }
    figures[`${kind}, half ${index + 1}: keep-warm against without`] = ratioOf(half);
  }
  figures[`${kind}: refreshes`] = all.refreshes;
  return {
    figures,
    checks: [below(`${kind} with keep-warm against without`, ratioOf(all), 1)],
  };
}

function ratioOf({ without, kept }: Costs): number | null {
  return without === 0n ? null : Number(kept) / Number(without);
}
