// Random courses of a turn: replies, tools, failures, overflows, aborts, words said meanwhile, kills between any two steps.
// Most drive the two machines of core/turn on a log in memory; some the engine itself on SQLite. Every course ends, and
// the ledger of one that was killed and resumed is that of one that was not.
import {
  atLeast,
  atMost,
  exactly,
  wholeNumber,
  type Check,
  type Experiment,
} from "../harness/report.ts";
import { failureKinds } from "./turn/outcomes.ts";
import { runRealCourses, type RealFindings } from "./turn/real/run-real-courses.ts";
import { endings, runCourses, type Findings } from "./turn/run-courses.ts";
import type { Problem } from "./turn/play.ts";
import { stepNames } from "./turn/course.ts";

export const experiment: Experiment = {
  summary:
    "random turns with kills between any two steps: all end, and the ledger is as without kills",
  options: {
    courses: "how many on a log in memory, 100000 by default",
    real: "how many through the engine and SQLite, 300 by default; 0 for none",
    seed: "where to start, 1 by default",
  },
  async run(settings) {
    const courses = wholeNumber(settings, "courses", 100_000);
    const real = settings.options["real"] === "0" ? 0 : wholeNumber(settings, "real", 300);
    const seed = wholeNumber(settings, "seed", 1);
    const { progress } = settings;
    const findings = runCourses({ seed, courses, progress });
    const really = await runRealCourses({ seed, courses: real, progress });
    return {
      figures: { seed, ...sorted(findings.counts), ...sorted(really.counts, "engine, ") },
      checks: [...checksOf(findings), ...realChecksOf(really), ...coverageOf(findings)],
    };
  },
};

function sorted(counts: ReadonlyMap<string, number>, words = ""): Record<string, number> {
  const names = [...counts].map(([name, count]) => [`${words}${name}`, count] as const);
  return Object.fromEntries(names.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function checksOf(found: Findings): readonly Check[] {
  const none = (name: string, kind: Problem["kind"]): Check =>
    exactly(name, found.problems.get(kind) ?? 0, 0);
  return [
    exactly("courses that ended", found.ended, found.courses),
    none("calls beyond the limit", "more calls than allowed"),
    none("sent and not recorded", "sent and not recorded"),
    none("replies applied twice", "reply applied twice"),
    none("words sent twice", "words sent twice"),
    atMost("compactions per call max", found.compactionsMax, 2),
    atMost("retries after an overflow max", found.retriesMax, 1),
    none("sessions that are other than their ledger", "other talk than the ledger's"),
    exactly("resumed ledgers that differ", found.different, 0),
  ];
}

function realChecksOf(found: RealFindings): readonly Check[] {
  if (found.courses === 0) return [];
  return [
    exactly("engine, courses that ended", found.ended, found.courses),
    exactly("engine, resumed ledgers that differ", found.different, 0),
    exactly("engine, sent and not recorded", found.unrecorded, 0),
    exactly("engine, problems of check()", found.checked, 0),
    atLeast("engine, kills", found.counts.get("kills") ?? 0, 1),
  ];
}

/** A long run always covers these; a short one may not. */
function coverageOf({ courses, compared, counts }: Findings): readonly Check[] {
  if (courses < 1_000) return [];
  const sum = (...starts: readonly string[]): number =>
    [...counts].reduce(
      (total, [name, count]) => (starts.some((start) => name === start) ? total + count : total),
      0,
    );
  const met = (name: string, ...starts: readonly string[]): Check =>
    atLeast(name, sum(...starts), 1);
  return [
    atLeast("courses compared with one that nothing interrupted", compared, courses / 3),
    ...stepNames.map((step) =>
      met(`kills at ${step}`, `killed before ${step}`, `killed after ${step}`),
    ),
    met("overflows", "sent: context-overflow", "sent: request-too-large"),
    met("fallbacks on another model", "fallbacks"),
    met("aborts", ...stepNames.map((step) => `abort at ${step}`)),
    met("words said meanwhile", ...stepNames.map((step) => `say at ${step}`)),
    ...[...failureKinds, "cancelled"].map((kind) => met(`failures, ${kind}`, `sent: ${kind}`)),
    ...(["size", "overflow"] as const).map((why) =>
      met(`compactions for ${why}`, `compaction for ${why}`),
    ),
    ...(["provider", "model", "nobody"] as const).map((by) =>
      met(`compacted by ${by}`, `compacted by ${by}`),
    ),
    ...endings.map((how) => met(`turns that ended ${how}`, `ended ${how}`)),
  ];
}
