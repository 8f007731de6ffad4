// Hostile inputs for all doors, shared among worker processes; what is suspected to hang is tried again alone.
import { availableParallelism, tmpdir } from "node:os";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Door, Fault } from "./door.ts";
import { hangMs, type Chunk } from "./messages.ts";
import { startWorker, type ChunkEnd, type Worker, type WorkerSetup } from "./worker-pool.ts";

export interface HostilePlan {
  readonly inputs: number;
  readonly seed: number;
  /** The URL of a module that exports `doors`. */
  readonly module: string;
  /** Only this door. */
  readonly door?: string;
  /** Only this input of the door; those before it in its block run too, and do not count. */
  readonly only?: number;
  /** How long an input may take before its process is killed. */
  readonly killMs?: number;
  readonly progress: (line: string) => void;
}

export interface DoorTally {
  /** How many it was to get. */
  readonly wanted: number;
  inputs: number;
  accepted: number;
  refused: number;
  slowestMs: number;
}

export interface HostileResult {
  readonly doors: ReadonlyMap<string, DoorTally>;
  readonly faults: readonly Fault[];
  /** Inputs that looked like a hang. */
  readonly suspects: number;
}

/** A suspected hang: on a busy machine most are none. */
interface Suspect {
  readonly door: string;
  readonly number: number;
}

const usualKillMs = 8000;
const chunkSize = 1000;
/** How many faults of one kind at one door are printed; all are counted. */
const shownMax = 20;

export async function runHostile(plan: HostilePlan): Promise<HostileResult> {
  const { module, seed, only, killMs = usualKillMs, progress } = plan;
  const { doors } = (await import(module)) as { doors: readonly Door[] };
  const chosen = doors.filter(({ name }) => plan.door === undefined || name === plan.door);
  const folder = mkdtempSync(join(tmpdir(), "strata-hostile-"));
  const faults = new Map<string, Fault>();
  const onFault = (fault: Fault): void => {
    const text = describeFault(fault, seed);
    // A chunk that is run again finds the same.
    if (faults.has(text) || (only !== undefined && fault.number !== only)) return;
    faults.set(text, fault);
    const isAlike = ({ door, kind }: Fault): boolean => door === fault.door && kind === fault.kind;
    if ([...faults.values()].filter(isAlike).length <= shownMax) progress(text);
  };
  const setup: WorkerSetup = { module, seed, folder, killMs, onFault };
  const tallies = new Map(chosen.map((door) => [door.name, openTally(wantedOf(door, plan))]));
  const suspects: Suspect[] = [];
  try {
    await runAll({ queue: queueOf(chosen, plan), tallies, suspects }, setup, progress);
    for (const suspect of suspects.slice(0, suspectsMax)) {
      const ms = await timeAlone(suspect, chosen, setup);
      if (ms > hangMs) onFault({ ...suspect, kind: "hang", detail: `${Math.round(ms)} ms alone` });
    }
    return { doors: tallies, faults: [...faults.values()], suspects: suspects.length };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const suspectsMax = 50;

export function describeFault({ door, number, kind, detail }: Fault, seed: number): string {
  return `${kind}: --seed ${seed} --door "${door}" --only ${number}: ${detail}`;
}

function openTally(wanted: number): DoorTally {
  return { wanted, inputs: 0, accepted: 0, refused: 0, slowestMs: 0 };
}

function wantedOf({ quota }: Door, { inputs, only }: HostilePlan): number {
  return only === undefined ? Math.max(1, Math.ceil((quota * inputs) / 1_000_000)) : 1;
}

/** The chunks of each door. Chunks begin where a block does. */
function queueOf(doors: readonly Door[], plan: HostilePlan): Map<string, Chunk[]> {
  return new Map(
    doors.map((door) => {
      const { name, block = 1 } = door;
      if (plan.only !== undefined) {
        const from = plan.only - (plan.only % block);
        return [name, [{ door: name, from, to: plan.only + 1, skip: [] }]];
      }
      const wanted = wantedOf(door, plan);
      const step = Math.ceil(chunkSize / block) * block;
      const chunks = Array.from({ length: Math.ceil(wanted / step) }, (_, index) => {
        const from = index * step;
        return { door: name, from, to: Math.min(wanted, from + step), skip: [] };
      });
      return [name, chunks];
    }),
  );
}

/** As many workers as there are processors, each with the chunks of one door after another. */
async function runAll(
  books: Books,
  setup: WorkerSetup,
  progress: (line: string) => void,
): Promise<void> {
  /** The door of each worker. */
  const taken: (string | null)[] = Array.from(
    { length: Math.max(2, availableParallelism()) },
    () => null,
  );
  let reportedMs = performance.now();
  const work = async (index: number): Promise<void> => {
    let worker: Worker | null = null;
    try {
      for (;;) {
        const chunk = nextChunk(books.queue, taken, index);
        taken[index] = chunk?.door ?? null;
        if (chunk === null) return;
        worker ??= await startWorker(setup);
        const end = await worker.run(chunk);
        settle(chunk, end, books, setup);
        if (end.kind !== "done") {
          await worker.close();
          worker = null;
        }
        if (performance.now() - reportedMs < 10_000) continue;
        reportedMs = performance.now();
        const done = [...books.tallies.values()].reduce((sum, { inputs }) => sum + inputs, 0);
        progress(`${done} inputs; now ${taken.join(", ")}`);
      }
    } finally {
      await worker?.close();
    }
  };
  await Promise.all(taken.map((_, index) => work(index)));
}

/** Stays with its door; else takes one that no other worker has, the longest first; else helps another. */
function nextChunk(
  queue: ReadonlyMap<string, Chunk[]>,
  taken: readonly (string | null)[],
  index: number,
): Chunk | null {
  const rank = ([door, chunks]: readonly [string, readonly Chunk[]]): number => {
    if (door === taken[index]) return Number.POSITIVE_INFINITY;
    return taken.includes(door) ? chunks.length : 1_000_000 + chunks.length;
  };
  const left = [...queue].filter(([, chunks]) => chunks.length > 0);
  const [first] = left.toSorted((one, other) => rank(other) - rank(one));
  return first?.[1].shift() ?? null;
}

interface Books {
  readonly queue: ReadonlyMap<string, Chunk[]>;
  readonly tallies: ReadonlyMap<string, DoorTally>;
  readonly suspects: Suspect[];
}

function settle(
  chunk: Chunk,
  end: ChunkEnd,
  { queue, tallies, suspects }: Books,
  { onFault }: WorkerSetup,
): void {
  const { door } = chunk;
  if (end.kind === "done") {
    const tally = tallies.get(door);
    if (tally === undefined) return;
    tally.inputs += end.tally.inputs;
    tally.accepted += end.tally.accepted;
    tally.refused += end.tally.refused;
    tally.slowestMs = Math.max(tally.slowestMs, end.tally.slowestMs);
    for (const number of end.tally.slow) suspects.push({ door, number });
    return;
  }
  const { number } = end;
  if (number < chunk.from) {
    onFault({ door, number, kind: "crash", detail: `the door did not open (${end.kind})` });
    return;
  }
  if (end.kind === "hung") suspects.push({ door, number });
  else onFault({ door, number, kind: "crash", detail: `the process ended: ${end.code}` });
  // The rest of the chunk, without this one. A door where everything hangs is not waited for.
  if (chunk.skip.length < 3) queue.get(door)?.unshift({ ...chunk, skip: [...chunk.skip, number] });
}

/** The fastest of three tries, each in a new process. Inputs before it run too: the code is then loaded and compiled. */
async function timeAlone(
  { door, number }: Suspect,
  doors: readonly Door[],
  setup: WorkerSetup,
): Promise<number> {
  const block = doors.find(({ name }) => name === door)?.block ?? 1;
  const from = Math.max(0, number - (number % block) - block * Math.ceil(warmUp / block));
  let best = Number.POSITIVE_INFINITY;
  for (let left = 3; left > 0 && best > hangMs; left -= 1) {
    const worker = await startWorker({ ...setup, onFault: () => {} });
    try {
      const before = await worker.run({ door, from, to: number, skip: [] });
      if (before.kind !== "done") continue;
      const end = await worker.run({ door, from: number, to: number + 1, skip: [] });
      if (end.kind !== "done") return setup.killMs;
      best = Math.min(best, end.tally.slowestMs);
    } finally {
      await worker.close();
    }
  }
  return best;
}

const warmUp = 20;
