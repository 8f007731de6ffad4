// Runs two sides alternately, with the order changing each round, so that both see the same machine.
import { median } from "../../harness/measure.ts";

export interface Sides {
  readonly ledger: (round: number) => Promise<unknown>;
  readonly bare: (round: number) => unknown;
}

export interface Compared {
  readonly ledgerMs: number;
  readonly bareMs: number;
  /** The ledger's speed as a share of the bare statements' speed. */
  readonly share: number;
}

/** Medians over the rounds, without warm-up rounds. */
export async function compareRounds(
  sides: Sides,
  { rounds, warmups = 2 }: { readonly rounds: number; readonly warmups?: number },
): Promise<Compared> {
  const times = { ledger: [] as number[], bare: [] as number[] };
  for (let round = 0; round < rounds + warmups; round += 1) {
    for (const name of round % 2 === 0
      ? (["ledger", "bare"] as const)
      : (["bare", "ledger"] as const)) {
      const ms = await timeOf(() => sides[name](round));
      if (round >= warmups) times[name].push(ms);
    }
  }
  const ledgerMs = median(times.ledger);
  const bareMs = median(times.bare);
  return { ledgerMs, bareMs, share: bareMs / ledgerMs };
}

export async function timeOf(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
