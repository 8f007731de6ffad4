// A thread that keeps swapping a folder and a file of the workspace with links to the canary.
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

export interface Swapper {
  swapCount(): number;
  stop(): Promise<void>;
}

interface SwapperData {
  readonly workspace: string;
  readonly canary: string;
  readonly folder: string;
  readonly file: string;
  /** The first cell counts swaps; setting the second stops the thread. */
  readonly shared: SharedArrayBuffer;
}

export function startSwapper(data: Omit<SwapperData, "shared">): Swapper {
  const shared = new SharedArrayBuffer(8);
  const cells = new Int32Array(shared);
  const worker = new Worker(new URL(import.meta.url), { workerData: { ...data, shared } });
  const ended = new Promise<void>((resolve) => {
    worker.once("exit", () => resolve());
  });
  return {
    swapCount: () => Atomics.load(cells, 0),
    stop: () => {
      Atomics.store(cells, 1, 1);
      return ended;
    },
  };
}

if (!isMainThread && parentPort !== null) swap(workerData as SwapperData);

function swap({ workspace, canary, folder, file, shared }: SwapperData): void {
  const cells = new Int32Array(shared);
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const place = (name: string): string => join(workspace, name);
  let step = 0;
  while (Atomics.load(cells, 1) === 0) {
    // Alternates between a real folder and a link. Only this thread makes links, so real files stay inside.
    attempt(() => unlinkSync(place(folder)));
    attempt(() => mkdirSync(join(place(folder), "deep"), { recursive: true }));
    attempt(() => writeFileSync(join(place(folder), "file.txt"), "one\n", { flag: "wx" }));
    attempt(() => writeFileSync(place(file), "one\n", { flag: "wx" }));
    Atomics.wait(pause, 0, 0, (step % 7) / 4);
    attempt(() => rmSync(place(`${folder}.real`), { recursive: true, force: true }));
    attempt(() => renameSync(place(folder), place(`${folder}.real`)));
    attempt(() => {
      symlinkSync(canary, place(folder));
      Atomics.add(cells, 0, 1);
    });
    attempt(() => rmSync(place(file)));
    attempt(() => symlinkSync(join(canary, "secret.txt"), place(file)));
    Atomics.wait(pause, 0, 0, (step % 5) / 4);
    attempt(() => unlinkSync(place(folder)));
    attempt(() => renameSync(place(`${folder}.real`), place(folder)));
    attempt(() => unlinkSync(place(file)));
    step += 1;
  }
}

/** Other threads use the same names; a failed step is retried in the next round. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {}
}
