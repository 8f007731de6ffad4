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

const killMs = 8000;
const chunkSize = 1000;
const faultsMax = 200;

export async function runHostile(plan: HostilePlan): Promise<HostileResult> {
  const { doors } = (await import(plan.module)) as { doors: readonly Door[] };
  const chosen = doors.filter(({ name }) => plan.door === undefined || name === plan.door);
  const folder = mkdtempSync(join(tmpdir(), "strata-hostile-"));
  const faults: Fault[] = [];
  const onFault = (fault: Fault): void => {
    if (plan.only !== undefined && fault.number !== plan.only) return;
    faults.push(fault);
    if (faults.length <= faultsMax) plan.progress(describeFault(fault, plan.seed));
  };
  const setup: WorkerSetup = { module: plan.module, seed: plan.seed, folder, killMs, onFault };
  const tallies = new Map(chosen.map((door) => [door.name, openTally(wantedOf(door, plan))]));
  try {
    const suspects = await runAll(queueOf(chosen, plan), setup, tallies, plan.progress);
    for (const suspect of suspects.slice(0, suspectsMax)) {
      const ms = await timeAlone(suspect, chosen, setup);
      if (ms > hangMs) onFault({ ...suspect, kind: "hang", detail: `${Math.round(ms)} ms alone` });
    }
    return { doors: tallies, faults, suspects: suspects.length };
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

async function runAll(
  queue: Map<string, Chunk[]>,
  setup: WorkerSetup,
  tallies: ReadonlyMap<string, DoorTally>,
  progress: (line: string) => void,
): Promise<readonly Suspect[]> {
  const suspects: Suspect[] = [];
  const busy = new Map<Worker | symbol, string>();
  let reportedMs = performance.now();
  const work = async (): Promise<void> => {
    let worker: Worker | null = null;
    let door: string | null = null;
    try {
      for (
        let chunk = nextChunk(queue, busy, door);
        chunk !== null;
        chunk = nextChunk(queue, busy, door)
      ) {
        if (door !== null) busy.delete(worker ?? idle);
        ({ door } = chunk);
        worker ??= await startWorker(setup);
        busy.set(worker, door);
        const end = await worker.run(chunk);
        settle(chunk, end, { queue, tallies, suspects, setup });
        if (end.kind !== "done") {
          busy.delete(worker);
          await worker.close();
          worker = null;
        }
        if (performance.now() - reportedMs < 10_000) continue;
        reportedMs = performance.now();
        const done = [...tallies.values()].reduce((sum, { inputs }) => sum + inputs, 0);
        progress(`${done} inputs; now ${[...busy.values()].join(", ")}`);
      }
    } finally {
      if (worker !== null) busy.delete(worker);
      await worker?.close();
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
  return suspects;
}

const idle = Symbol("no worker");

/** Stays with its door; else takes one that no other worker has, the longest first; else helps another. */
function nextChunk(
  queue: Map<string, Chunk[]>,
  busy: ReadonlyMap<unknown, string>,
  own: string | null,
): Chunk | null {
  const left = [...queue].filter(([, chunks]) => chunks.length > 0);
  const taken = new Set(busy.values());
  const [first] = left.toSorted(
    ([one, chunks], [other, others]) =>
      Number(other === own) - Number(one === own) ||
      Number(taken.has(one)) - Number(taken.has(other)) ||
      others.length - chunks.length,
  );
  return first?.[1].shift() ?? null;
}

interface Books {
  readonly queue: Map<string, Chunk[]>;
  readonly tallies: ReadonlyMap<string, DoorTally>;
  readonly suspects: Suspect[];
  readonly setup: WorkerSetup;
}

function settle(chunk: Chunk, end: ChunkEnd, { queue, tallies, suspects, setup }: Books): void {
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
    setup.onFault({ door, number, kind: "crash", detail: `the door did not open (${end.kind})` });
    return;
  }
  if (end.kind === "hung") suspects.push({ door, number });
  else setup.onFault({ door, number, kind: "crash", detail: `the process ended: ${end.code}` });
  // The rest of the chunk, without this one. A door where everything hangs is not waited for.
  if (chunk.skip.length < 3) queue.get(door)?.unshift({ ...chunk, skip: [...chunk.skip, number] });
}

/** The fastest of three tries, each in a new process. */
async function timeAlone(
  { door, number }: Suspect,
  doors: readonly Door[],
  setup: WorkerSetup,
): Promise<number> {
  const block = doors.find(({ name }) => name === door)?.block ?? 1;
  let best = Number.POSITIVE_INFINITY;
  for (let left = 3; left > 0 && best > hangMs; left -= 1) {
    const worker = await startWorker({ ...setup, onFault: () => {} });
    try {
      // Loads the door and compiles its code first.
      const from = number - (number % block);
      const end = await worker.run({ door, from, to: number + 1, skip: [] });
      const isSlow = end.kind === "done" && end.tally.slow.includes(number);
      if (end.kind === "done") best = Math.min(best, isSlow ? end.tally.slowestMs : 0);
      else best = Math.min(best, killMs);
    } finally {
      await worker.close();
    }
  }
  return best;
}
