// Timing on a noisy machine: candidates alternate, and medians of one run are compared.

export type Timings<Name extends string> = Readonly<Record<Name, number>>;

/** Runs every candidate once per round and returns each median in milliseconds. */
export async function medianMsOf<Name extends string>(
  candidates: Readonly<Record<Name, () => unknown>>,
  options: { readonly rounds: number; readonly warmups?: number },
): Promise<Timings<Name>> {
  const names = Object.keys(candidates) as Name[];
  const samples = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = -(options.warmups ?? 1); round < options.rounds; round += 1) {
    for (const name of names) {
      const start = performance.now();
      // Sequential, because parallel runs would disturb each other.
      await candidates[name]();
      if (round >= 0) samples.get(name)?.push(performance.now() - start);
    }
  }
  return Object.fromEntries(
    names.map((name) => [name, median(samples.get(name) ?? [])]),
  ) as Timings<Name>;
}

/** NaN for an empty list, so that a check on it fails. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  if (sorted.length === 0) return Number.NaN;
  const place = (sorted.length - 1) * share;
  const lower = sorted[Math.floor(place)] ?? Number.NaN;
  const upper = sorted[Math.ceil(place)] ?? Number.NaN;
  return lower + (upper - lower) * (place - Math.floor(place));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The CPU time of this thread in milliseconds: what else runs on the machine does not count. */
export function cpuMsOf(work: () => void): number {
  const start = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}
