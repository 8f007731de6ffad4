// Many courses, each with its twin that was not interrupted, and what was found in them.
import type { TurnEnding } from "../../src/core/turn/turn.ts";
import { toCourse, type Course, type Interruption } from "./course.ts";
import { countEfforts, findDifference } from "./judge.ts";
import { play, problemKinds, type Played, type Problem } from "./play.ts";
import { sceneOf } from "./scenes.ts";

export interface Findings {
  courses: number;
  ended: number;
  /** Courses that were compared with one that nothing interrupted. */
  compared: number;
  different: number;
  compactionsMax: number;
  retriesMax: number;
  readonly problems: Map<Problem["kind"], number>;
  /** How often what happened. */
  readonly counts: Map<string, number>;
}

export function openFindings(): Findings {
  return {
    courses: 0,
    ended: 0,
    compared: 0,
    different: 0,
    compactionsMax: 0,
    retriesMax: 0,
    problems: new Map(problemKinds.map((kind) => [kind, 0])),
    counts: new Map(),
  };
}

export interface CoursesToRun {
  readonly seed: number;
  readonly courses: number;
  readonly progress: (line: string) => void;
}

/** So many problems are told with their course; the others are counted. */
export const shownMax = 10;

export function runCourses({ seed, courses, progress }: CoursesToRun): Findings {
  const findings = openFindings();
  let shown = 0;
  for (let at = 0; at < courses; at += 1) {
    const course = toCourse(seed + at);
    for (const told of runCourse(course, findings)) {
      shown += 1;
      if (shown <= shownMax) progress(`PROBLEM --seed ${course.seed} --courses 1: ${told}`);
    }
    if ((at + 1) % 10_000 === 0) progress(`${at + 1} courses, ${shown} problems`);
  }
  return findings;
}

/** What is wrong with a course, each with the way it took. */
function runCourse(course: Course, findings: Findings): readonly string[] {
  findings.courses += 1;
  try {
    const played = play(course, sceneOf(course.stage));
    note(findings, played);
    const problems = played.problems.map(({ kind, detail }) => `${kind}: ${detail}`);
    const difference = compare(course, played, findings);
    const efforts = countEfforts(played.log.commits);
    findings.compactionsMax = Math.max(findings.compactionsMax, efforts.compactionsMax);
    findings.retriesMax = Math.max(findings.retriesMax, efforts.retriesMax);
    if (played.ends.length === course.turnCount) findings.ended += 1;
    return [
      ...problems,
      ...(difference === null ? [] : [`another ledger than without kills: ${difference}`]),
      ...(efforts.compactionsMax > 2 ? [`${efforts.compactionsMax} compactions for a call`] : []),
      ...(efforts.retriesMax > 1 ? [`${efforts.retriesMax} retries after an overflow`] : []),
    ].map((told) => `${told}\n  ${played.trail.join("; ")}`);
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  }
}

function note(findings: Findings, { problems, counts }: Played): void {
  for (const { kind } of problems) {
    findings.problems.set(kind, (findings.problems.get(kind) ?? 0) + 1);
  }
  for (const [name, count] of counts) {
    findings.counts.set(name, (findings.counts.get(name) ?? 0) + count);
  }
}

function compare(course: Course, played: Played, findings: Findings): string | null {
  const isTight = (played.counts.get("compaction came to nothing, and nothing fits") ?? 0) > 0;
  // That memory had to leave the prompt is not recorded: a resumed turn estimates with it.
  if (course.kills.length === 0 || (course.hasMemory && isTight)) return null;
  const twin = play(withoutKills(course, played.lost), sceneOf(course.stage));
  findings.compared += 1;
  const difference = findDifference(played.log.commits, twin.log.commits);
  if (difference !== null) findings.different += 1;
  return difference;
}

/** The same course, in which nobody says or stops what died with a process. */
export function withoutKills(course: Course, lost: ReadonlySet<Interruption>): Course {
  const interruptions = course.interruptions.map((each) =>
    lost.has(each) ? { ...each, turn: never } : each,
  );
  return { ...course, kills: [], interruptions };
}

/** No course has a turn of that number. */
const never = 1_000;

export const endings: readonly TurnEnding[] = [
  "done",
  "failed",
  "cancelled",
  "cut off",
  "too many calls",
];
