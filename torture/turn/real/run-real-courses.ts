// Courses through the engine itself, on a ledger in SQLite: killed and resumed, then once more without kills.
import { openSqlite } from "../../../src/edge/stores/sqlite/open-sqlite.ts";
import { createLedger } from "../../../src/edge/stores/ledger/create-ledger.ts";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import type { SessionRecord } from "../../../src/core/ledger/session-record.ts";
import { findCallSettings } from "../../../src/engine/session/recorded-setup.ts";
import { resumeTurn, runTurn, type TurnResult } from "../../../src/engine.ts";
import { openSession } from "../../../src/engine/session/open-session.ts";
import { resumeSession } from "../../../src/engine/session/stored-session.ts";
import type { Session } from "../../../src/core/session/session.ts";
import { toCourse, type Course, type Interruption } from "../course.ts";
import { moment } from "../circumstances.ts";
import { shownMax, withoutKills, type CoursesToRun } from "../run-courses.ts";
import { toStage } from "../stages.ts";
import { StrataError } from "../../../src/core/strata-error.ts";
import { Crash, startProcess, type RealProcess, type RealWorld } from "./process.ts";
import { readRows } from "./read-rows.ts";

export interface RealFindings {
  courses: number;
  ended: number;
  different: number;
  unrecorded: number;
  /** Problems that ledgers found in themselves. */
  checked: number;
  readonly counts: Map<string, number>;
}

export async function runRealCourses({
  seed,
  courses,
  progress,
}: CoursesToRun): Promise<RealFindings> {
  const found: RealFindings = {
    courses,
    ended: 0,
    different: 0,
    unrecorded: 0,
    checked: 0,
    counts: new Map(),
  };
  const count = (what: string): void =>
    void found.counts.set(what, (found.counts.get(what) ?? 0) + 1);
  let shown = 0;
  for (let at = 0; at < courses; at += 1) {
    const course = toRealCourse(seed + at);
    const tell = (what: string): void => {
      shown += 1;
      if (shown <= shownMax)
        progress(`PROBLEM --seed ${course.seed} --courses 1 --real 1: ${what}`);
    };
    try {
      const played = await play(course, count);
      const twin = await play(withoutKills(course, played.lost), () => {});
      found.ended += 1;
      found.unrecorded += played.unrecorded;
      if (played.unrecorded > 0) tell(`sent and not recorded\n  ${played.trail.join("; ")}`);
      found.checked += played.problems.length;
      for (const problem of played.problems) tell(problem);
      const difference = findDifference(played.rows, twin.rows);
      if (difference === null) continue;
      found.different += 1;
      tell(`another ledger than without kills: ${difference}\n  ${played.trail.join("; ")}`);
    } catch (error) {
      tell(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
  }
  return found;
}

/** Fewer places than the steps of the machines; and no memory, which comes from a workspace. */
function toRealCourse(seed: number): Course {
  const course = toCourse(seed);
  const kills = (course.kills.length === 0 ? [3, 8] : course.kills).map((left) => left % 20);
  const interruptions = course.interruptions.map((each) => {
    if (each.step === "send" || each.step === "run tools") return each;
    return { ...each, step: each.call % 2 === 0 ? ("run tools" as const) : ("send" as const) };
  });
  return {
    ...course,
    kills,
    interruptions,
    // What a session does after a turn that fell back, its routing decides.
    turnCount: course.fallsBack ? 1 : course.turnCount,
    canCount: false,
    hasMemory: false,
    mayUseProvider: false,
  };
}

interface RealPlayed {
  readonly rows: readonly string[];
  readonly lost: ReadonlySet<Interruption>;
  readonly problems: readonly string[];
  readonly unrecorded: number;
  readonly trail: readonly string[];
}

const leaseMs = 3_600_000;

async function play(course: Course, count: (what: string) => void): Promise<RealPlayed> {
  const clock = { ms: Date.UTC(2026, 10, 15) };
  const database = openSqlite({ file: ":memory:" });
  const ledger = await createLedger(database, { now: () => clock.ms, leaseMs, holder: "torture" });
  const { setup, turns: earlier } = toStage(course.stage);
  const trail: string[] = [];
  const kills = [...course.kills];
  const world: RealWorld = {
    course,
    ledger,
    earlier,
    turnNumber: 1 - earlier.length,
    turnId: () => `turn-${world.turnNumber + earlier.length}`,
    answered: 0,
    left: Infinity,
    unrecorded: 0,
    heard: new Set(),
    count: (what) => {
      trail.push(`${world.turnId()} ${what}`);
      count(what);
    },
  };
  const lost = new Set<Interruption>();
  try {
    let session: Session = openSession(setup);
    for (; world.turnNumber <= course.turnCount; world.turnNumber += 1) {
      if (world.turnNumber === 1) world.left = kills.shift() ?? Infinity;
      for (;;) {
        const life = startProcess(world);
        try {
          const run = await runOrResume(session, world, life);
          if (run !== null) session = run.session;
          break;
        } catch (error) {
          const cause = error instanceof StrataError ? error.cause : error;
          if (!(cause instanceof Crash)) throw error;
          world.left = kills.shift() ?? Infinity;
          // The leases of the dead end.
          clock.ms += 2 * leaseMs;
          const known = await ledger.findSession(setup.id);
          session = known === null ? openSession(setup) : await resume(ledger, known, course);
          await lose(world, life, lost);
        }
      }
    }
    const problems: string[] = [];
    for await (const problem of ledger.check()) problems.push(problem);
    return { rows: await readRows(database), lost, problems, unrecorded: world.unrecorded, trail };
  } finally {
    await ledger.close();
  }
}

/** With the model of the open turn, or of the last one. */
async function resume(ledger: Ledger, known: SessionRecord, course: Course): Promise<Session> {
  const calls = await findCallSettings(ledger, known);
  const { setup } = toStage(course.stage, calls?.model);
  return resumeSession(ledger, known.id, setup);
}

/** Null where the turn is over, and its process died right after that. */
async function runOrResume(
  session: Session,
  world: RealWorld,
  { deps }: RealProcess,
): Promise<TurnResult | null> {
  const { course, earlier, turnNumber } = world;
  const id = world.turnId();
  const callsMax = turnNumber <= 0 ? 12 : course.callsMax;
  const recorded = await world.ledger.findTurn(id);
  if (recorded?.status === "completed" || recorded?.status === "failed") return null;
  if (recorded !== null) return resumeTurn(session, { moment, callsMax }, deps);
  const before = earlier.at(turnNumber - 1);
  const content =
    turnNumber <= 0 && before !== undefined ? (before[0]?.content ?? []) : `Ask ${id}.`;
  return runTurn(session, { id, event: { content, source: "human", ...moment }, callsMax }, deps);
}

/** What was heard, and of which the ledger has nothing. */
async function lose(world: RealWorld, life: RealProcess, lost: Set<Interruption>): Promise<void> {
  const { course, ledger, heard } = world;
  const texts = await recordedTexts(ledger, world);
  for (const [at, each] of course.interruptions.entries()) {
    if (!heard.has(each) || each.turn !== world.turnNumber) continue;
    const isRecorded =
      each.what === "say"
        ? texts.some((text) => text.includes(`Meanwhile ${at}.`))
        : !life.isAborted() || texts.some((text) => text.includes('"kind":"cancelled"'));
    if (!isRecorded) lost.add(each);
  }
}

async function recordedTexts(ledger: Ledger, world: RealWorld): Promise<readonly string[]> {
  const id = world.turnId();
  const turn = await ledger.findTurn(id);
  if (turn === null) return [];
  // Words that no call sent were handed back at the end of the turn.
  if (turn.status === "completed" || turn.status === "failed") {
    return world.course.interruptions.map((_, at) => `Meanwhile ${at}. "kind":"cancelled"`);
  }
  const messages = await ledger.readMessages(id);
  const calls = await ledger.readCalls(id);
  return [
    ...messages.map(({ message }) => JSON.stringify(message)),
    ...calls.map(({ failure }) => JSON.stringify(failure)),
  ];
}

function findDifference(one: readonly string[], other: readonly string[]): string | null {
  const at = Array.from({ length: Math.max(one.length, other.length) }).findIndex(
    (_, index) => one[index] !== other[index],
  );
  if (at === -1) return null;
  const [mine = "nothing", theirs = "nothing"] = [one[at], other[at]];
  let from = 0;
  while (from < mine.length && mine[from] === theirs[from]) from += 1;
  const around = (text: string): string => text.slice(Math.max(0, from - 60), from + 120);
  return `${mine.slice(0, 60)}… at ${from}: ${around(mine)} against ${around(theirs)}`;
}
