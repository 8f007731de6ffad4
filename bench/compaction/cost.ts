// What compaction costs and saves on recorded sessions: by break-even, and by rules that only look at the fill level.
import { atMost, type Figure, type Report } from "../../harness/report.ts";
import { listPolicies } from "../../src/core/cache/policies.ts";
import type { Policy } from "../../src/core/cache/policy.ts";
import {
  defaultCompactionSettings,
  type CompactionSettings,
} from "../../src/core/compaction/plan/settings.ts";
import { loadO200k } from "../../src/core/tokens/o200k/counter.ts";
import { readRecordings } from "../../src/replay/readers/read-recordings.ts";
import { compactionThread, priceThread, type Compaction } from "./compact-thread.ts";
import { readRecordedThreads, type RecordedThread } from "./recorded-thread.ts";

const sessionTokensMin = 40_000;

/** Without the guards against thrashing, which would only delay the compactions of a fixed rule. */
const unguarded: CompactionSettings = {
  ...defaultCompactionSettings,
  auto: {
    ...defaultCompactionSettings.auto,
    turnsBetweenMin: 0,
    compactionsMax: Infinity,
    ineffectivePassesMax: Infinity,
  },
};

const atShare = (compactAtShare: number): CompactionSettings => ({
  ...unguarded,
  isEnabled: true,
  timing: "at once",
  compactAtShare,
});

/** "never" works only while the session fits the window; after that it compacts when it must. */
const rules = {
  "by break-even": { ...defaultCompactionSettings, isEnabled: true },
  never: unguarded,
  "at 75 %": atShare(0.75),
  "at 90 %": atShare(0.9),
} as const;

type RuleName = keyof typeof rules;

const fixedRules = ["never", "at 75 %", "at 90 %"] as const;

/** Recorded sessions rarely fill the largest windows; smaller ones make compactions happen. */
const windows: Readonly<Record<string, (thread: RecordedThread) => number | null>> = {
  "recorded window": () => null,
  "200k window": () => 200_000,
  "window of its largest prompt": ({ tokensMax }) => tokensMax,
};

export async function costPart(
  folder: string,
  progress: (line: string) => void,
): Promise<Pick<Report, "figures" | "checks">> {
  const policy = listPolicies().find(({ name }) => name === "adaptive");
  if (policy === undefined) throw new Error("there is no adaptive policy");
  const books = new Map(Object.keys(windows).map((name) => [name, openBook()]));
  const recordings = readRecordings([folder], { counter: await loadO200k() });
  let sessions = 0;
  for await (const thread of readRecordedThreads(recordings)) {
    if (thread.tokensMax < sessionTokensMin || thread.calls.length === 0) continue;
    sessions += 1;
    for (const [name, windowOf] of Object.entries(windows)) {
      const book = books.get(name);
      if (book !== undefined) addThread(book, thread, windowOf(thread), policy);
    }
  }
  progress(`cost of ${sessions} sessions in ${books.size} windows`);
  const figures: Record<string, Figure> = { "cost: sessions": sessions };
  for (const [name, book] of books) Object.assign(figures, describeBook(name, book));
  const worst = Math.max(...[...books.values()].map(ratioToBest));
  return { figures, checks: [atMost("cost vs best fixed", worst, 1.03)] };
}

interface Book {
  readonly byRule: Readonly<Record<RuleName, Tally>>;
  /** Sum over sessions of the cost of each session's best fixed rule. */
  bestOfEachPicoUsd: bigint;
  /** Sessions that were never compacted under any rule. */
  neverCompacted: number;
}

interface Tally {
  costPicoUsd: bigint;
  compactions: number;
  forced: number;
  cold: number;
  compactedTokens: number;
}

function openBook(): Book {
  return {
    byRule: {
      "by break-even": { ...emptyTally },
      never: { ...emptyTally },
      "at 75 %": { ...emptyTally },
      "at 90 %": { ...emptyTally },
    },
    bestOfEachPicoUsd: 0n,
    neverCompacted: 0,
  };
}

const emptyTally: Tally = {
  costPicoUsd: 0n,
  compactions: 0,
  forced: 0,
  cold: 0,
  compactedTokens: 0,
};

function addThread(
  book: Book,
  thread: RecordedThread,
  windowTokens: number | null,
  policy: Policy,
): void {
  let neverCompacted: bigint | null = null;
  const costs = new Map<RuleName, bigint>();
  for (const rule of ruleNames) {
    const compacted = compactionThread(thread, rules[rule], windowTokens);
    const isNeverCompacted = compacted.compactions.length === 0;
    const cost: bigint =
      isNeverCompacted && neverCompacted !== null
        ? neverCompacted
        : priceThread(thread.id, compacted, policy);
    if (isNeverCompacted) neverCompacted = cost;
    costs.set(rule, cost);
    addCompactions(book.byRule[rule], cost, compacted.compactions);
  }
  book.bestOfEachPicoUsd += leastOf(fixedRules.map((rule) => costs.get(rule) ?? 0n));
  if (ruleNames.every((rule) => costs.get(rule) === neverCompacted)) book.neverCompacted += 1;
}

const ruleNames: readonly RuleName[] = ["by break-even", ...fixedRules];

function addCompactions(tally: Tally, cost: bigint, compactions: readonly Compaction[]): void {
  tally.costPicoUsd += cost;
  tally.compactions += compactions.length;
  tally.forced += compactions.filter(({ wasForced }) => wasForced).length;
  tally.cold += compactions.filter(({ wasCold }) => wasCold).length;
  for (const compaction of compactions)
    tally.compactedTokens += compaction.tokensBefore - compaction.tokensAfter;
}

/** Against one rule for all sessions, because the best rule for each is not known in advance. */
function ratioToBest({ byRule }: Book): number {
  const best = leastOf(fixedRules.map((rule) => byRule[rule].costPicoUsd));
  return ratio(byRule["by break-even"].costPicoUsd, best);
}

function describeBook(name: string, book: Book): Record<string, Figure> {
  const { byRule } = book;
  const own = byRule["by break-even"];
  const figures: Record<string, Figure> = {
    [`${name}: cost vs best fixed`]: ratioToBest(book),
    [`${name}: cost vs best fixed of each session`]: ratio(own.costPicoUsd, book.bestOfEachPicoUsd),
    [`${name}: sessions never compacted`]: book.neverCompacted,
  };
  for (const rule of ruleNames) {
    const { costPicoUsd, compactions, forced, cold, compactedTokens } = byRule[rule];
    figures[`${name}: ${rule}, $`] = Number(costPicoUsd / 1_000_000n) / 1_000_000;
    figures[`${name}: ${rule}, compactions`] = compactions;
    figures[`${name}: ${rule}, compactions the window forced`] = forced;
    // Every other compact rewrites a prefix that could have been read.
    figures[`${name}: ${rule}, rewrites of a warm prefix`] = compactions - cold;
    figures[`${name}: ${rule}, tokens per compaction`] =
      compactions === 0 ? null : Math.round(compactedTokens / compactions);
  }
  return figures;
}

function leastOf(values: readonly bigint[]): bigint {
  return values.reduce((least, value) => (value < least ? value : least), values[0] ?? 0n);
}

function ratio(value: bigint, of: bigint): number {
  return of === 0n ? Number.NaN : Number((value * 1_000_000n) / of) / 1_000_000;
}
