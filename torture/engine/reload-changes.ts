// Changes of a strata.yaml while sessions work, each with the first calls it must or must not apply to.
import { openSlot, playRound, quiet, type Run, type Slot } from "./reload-round.ts";
import { expectCompactions, toYaml, type ChangeKind, type Wanted } from "./wanted.ts";
import { brokenWays, goodWays } from "./write-config.ts";

export interface Change {
  readonly kind: ChangeKind | undefined;
  /** The number of good changes before it. */
  readonly good: number;
}

/** Writes a valid change and plays the first calls it applies to. Returns the names to count. */
export async function changeFile(
  run: Run,
  slots: Slot[],
  { kind, good }: Change,
): Promise<readonly string[]> {
  const [way, write] = Object.entries(goodWays)[good % Object.keys(goodWays).length] ?? [];
  if (kind === undefined || way === undefined || write === undefined) return [];
  const { arrivals, place, url } = run;
  const { wanted: before } = arrivals;
  const wanted = kind.change(before);
  const beginsToCompaction = expectCompactions(wanted) && !expectCompactions(before);
  if (good % 4 === 1 && kind.isSeenAtOnce && !beginsToCompaction) {
    await changeMidway(run, slots, { name: kind.name, wanted });
    return [kind.name, "between two calls"];
  }
  if (beginsToCompaction) slots[0] = await makeRipe(run);
  const { rest } = await write(place.configFile, toYaml(wanted, url));
  arrivals.wanted = wanted;
  // A session keeps its layout; only a new session has the new one.
  if (kind.name === "layout") slots[1] = await openSlot(run);
  if (kind.name === "retries") arrivals.refusals.set(run.turns, wanted.attemptsMax - 1);
  const what = `a change (${kind.name}, ${way})`;
  const shown = await playRound(run, slots, { what, notices: 0, rest });
  const ripe = slots[0]?.turns ?? [];
  if (
    beginsToCompaction &&
    !shown.some(({ turn, isSummary }) => isSummary && ripe.includes(turn))
  ) {
    run.late.push(`${what}: nothing was folded`);
  }
  return [kind.name, way];
}

/** Changes the file during the first call of a turn; the second call must show the change. */
async function changeMidway(
  run: Run,
  slots: readonly Slot[],
  { name, wanted }: { readonly name: string; readonly wanted: Wanted },
): Promise<void> {
  const { arrivals, place, url } = run;
  arrivals.onNext = () => {
    place.configure(toYaml(wanted, url));
    arrivals.wanted = wanted;
  };
  const what = `a change (${name}, between two calls)`;
  const shown = await playRound(run, slots.slice(-1), { what, notices: 0, isReading: true });
  const calls = shown.filter(({ isSummary, isCount }) => !isSummary && !isCount).length;
  if (calls !== 2) {
    run.late.push(`${what}: the turn had ${calls} calls, not 2`);
  }
}

/** A session whose history is worth a compaction. */
async function makeRipe(run: Run): Promise<Slot> {
  const slot = await openSlot(run);
  for (let turn = 0; turn < 9; turn += 1) await playRound(run, [slot], quiet);
  return slot;
}

/** Writes a broken file: the old configuration stays in force, and one notice is given. */
export async function breakFile(
  run: Run,
  slots: readonly Slot[],
  before: number,
): Promise<readonly string[]> {
  const { arrivals, place, url } = run;
  const [way, spoil] = Object.entries(brokenWays)[before % Object.keys(brokenWays).length] ?? [];
  if (way === undefined || spoil === undefined) return [];
  // A valid version of this file would change these settings.
  const other = { ...arrivals.wanted, team: -1, isCached: !arrivals.wanted.isCached };
  spoil(place.configFile, toYaml(other, url));
  await playRound(run, slots, { what: `a broken file (${way})`, notices: 1 });
  return [way];
}
