// The cause of every recorded shortfall, in two halves by repository.
import {
  atMost,
  exactly,
  UsageError,
  type Check,
  type Figure,
  type Report,
} from "../../harness/report.ts";
import { splitByRepository, type TraceHalf } from "../../harness/traces.ts";
import { loadO200k, type TextCounter } from "../../src/core/tokens/o200k/counter.ts";
import { explainRecordings } from "../../src/replay/explain/explain-recording.ts";
import { readRecordings } from "../../src/replay/readers/read-recordings.ts";

export async function explainHalves(folder: string): Promise<Pick<Report, "figures" | "checks">> {
  const counter = await loadO200k();
  const figures: Record<string, Figure> = {};
  const checks: Check[] = [];
  let calls = 0;
  for (const [index, half] of splitByRepository(folder).entries()) {
    const name = `half ${index + 1}`;
    const found = await explainHalf(half, counter);
    calls += found.calls;
    const unknown = ["provider lost it", "changed after the head"].reduce(
      (sum, cause) => sum + (found.causes.get(cause)?.tokens ?? 0),
      0,
    );
    Object.assign(figures, {
      [`${name}: repositories`]: half.repositories.join(", "),
      [`${name}: recorded calls`]: found.calls,
      [`${name}: shortfalls`]: found.total.count,
      [`${name}: lost tokens`]: found.total.tokens,
      [`${name}: shortfalls of what was not sent again`]: found.unsent,
      [`${name}: inferred from bills, share of lost tokens`]: shareOf(found.inferred, found.total),
      ...causeFigures(name, found),
    });
    checks.push(
      exactly(`${name}: shortfalls without any cause`, found.unexplained, 0),
      atMost(
        `unknown share of lost tokens, ${name}`,
        unknown / Math.max(1, found.total.tokens),
        0.1,
      ),
    );
  }
  if (calls === 0) throw new UsageError(`no call with usage could be read from ${folder}`);
  return { figures, checks };
}

/** Smaller shortfalls are rounding errors. */
const shortfallTokensMin = 1024;

interface Tally {
  count: number;
  tokens: number;
}

interface Found {
  calls: number;
  readonly causes: Map<string, Tally>;
  readonly total: Tally;
  readonly inferred: Tally;
  unexplained: number;
  unsent: number;
}

async function explainHalf({ files }: TraceHalf, counter: TextCounter): Promise<Found> {
  const found: Found = {
    calls: 0,
    causes: new Map(),
    total: { count: 0, tokens: 0 },
    inferred: { count: 0, tokens: 0 },
    unexplained: 0,
    unsent: 0,
  };
  for await (const call of explainRecordings(readRecordings(files, { counter }))) {
    found.calls += 1;
    const { cause, lostTokens } = call.explanation;
    if (cause === "no miss" && call.shortfallTokens > shortfallTokensMin) found.unsent += 1;
    if (lostTokens <= shortfallTokensMin) continue;
    if (cause === "no miss" || cause === "first call") found.unexplained += 1;
    const tally = found.causes.get(cause) ?? { count: 0, tokens: 0 };
    found.causes.set(cause, tally);
    for (const each of [found.total, tally]) add(each, lostTokens);
    if (call.evidence === "inferred") add(found.inferred, lostTokens);
  }
  return found;
}

function add(tally: Tally, tokens: number): void {
  tally.count += 1;
  tally.tokens += tokens;
}

function shareOf(part: Tally, whole: Tally): number {
  return part.tokens / Math.max(1, whole.tokens);
}

function causeFigures(name: string, { causes, total }: Found): Record<string, Figure> {
  const sorted = [...causes].toSorted(([, left], [, right]) => right.tokens - left.tokens);
  return Object.fromEntries(
    sorted.flatMap(([cause, tally]) => [
      [`${name}: ${cause}, count`, tally.count],
      [`${name}: ${cause}, share of lost tokens`, shareOf(tally, total)],
    ]),
  );
}
