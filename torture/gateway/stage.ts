// The gateway as `openGateway` makes it, with faults planted at its steps, and a world that does not stand still:
// the ledger goes away, its disk is full, its thread dies, the clock jumps, the table of upstreams changes.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { Observer } from "../../src/gateway/exchange.ts";
import { createObserver } from "../../src/gateway/observe/observer.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";
import { openForwarder, type Forwarder } from "../../src/gateway/open-forwarder.ts";
import { observeBoth } from "../../src/gateway/record/log-requests.ts";
import { openRecorder, type Recorder } from "../../src/gateway/record/open-recorder.ts";
import { toUpstreamTable } from "../../src/gateway/upstreams/configured.ts";
import type { UpstreamTable } from "../../src/gateway/upstreams/upstream-table.ts";
import type { Random } from "../../harness/random-message.ts";
import type { Plan, PlantedStep } from "./plan.ts";

export interface Stage {
  readonly forwarder: Forwarder;
  readonly recorder: Recorder;
  /** Calls that the recorder was given. */
  taken(): number;
  /** Exchanges that passed while the observer was left out. */
  readonly unseen: ReadonlySet<number>;
  /** One more disturbance; its name. */
  disturb(random: Random): string;
  /** Everything is as it should be again. Resolves when the ledger is written again. */
  calm(): Promise<void>;
  close(): Promise<void>;
}

export interface StageOptions {
  /** The ledger and the request log are in here. */
  readonly folder: string;
  readonly upstreamUrl: string;
  readonly planOf: (number: number) => Plan | undefined;
}

/** A silent upstream is given up after this. Others answer at once, on a busy machine a little later. */
const firstByteMsMax = 3000;
/** A minute would outlast the run. */
const observerPauseMs = 200;

export async function openStage({ folder, upstreamUrl, planOf }: StageOptions): Promise<Stage> {
  const data = join(folder, "data");
  const unseen = new Set<number>();
  let taken = 0;
  const plantedAt = (text: string): PlantedStep | null =>
    planOf(Number(/\bn[=-](\d+)/.exec(text)?.[1] ?? NaN))?.planted ?? null;
  const world = openWorld(data);
  const recorder = openRecorder({
    store: join(data, "ledger.db"),
    log: { folder: join(data, "log"), folderBytesMax: 20_000_000 },
    limits: { batchMs: 20, retryMs: 20, retryMsMax: 100, waitingCallsMax: 500, closeMsMax: 60_000 },
    onLoss: () => {},
  });
  const take = (call: ObservedCall): void => {
    if (plantedAt(call.conversation.clientSession ?? "") === "sink") throw planted("sink");
    taken += 1;
    recorder.take(call);
  };
  const calls = createObserver({
    nowMs: Date.now,
    limits: { conversationsMax: 200, unpackedBytesMax: 4_000_000 },
    sink: { take },
  });
  const { requests } = recorder;
  const observer = requests === null ? calls : observeBoth(calls, requests);
  const makeTable = (): UpstreamTable => tableOf(upstreamUrl, plantedAt);
  const forwarder = await openForwarder({
    table: makeTable(),
    observer: plant(observer, plantedAt),
    env: {},
    firstByteMsMax,
    observerPauseMs,
    onExchange: ({ isWatched, path }) => {
      if (!isWatched) unseen.add(Number(/\bn=(\d+)/.exec(path)?.[1] ?? NaN));
    },
  });
  return {
    forwarder,
    recorder,
    taken: () => taken,
    unseen,
    disturb: (random) => {
      forwarder.use(makeTable());
      return world.disturb(random);
    },
    calm: async () => {
      world.calm();
      while (recorder.stats().problem !== null) await wait(10);
    },
    close: async () => {
      await forwarder.close(10_000);
      await recorder.close();
      world.close();
    },
  };
}

function planted(step: PlantedStep): Error {
  return new Error(`planted in ${step}`);
}

function tableOf(url: string, plantedAt: (path: string) => PlantedStep | null): UpstreamTable {
  const table = toUpstreamTable(
    new Map([["up", { baseUrl: url, headers: new Map<string, string>(), protocol: "anthropic" }]]),
  );
  return {
    ...table,
    choose: (asked) => {
      if (plantedAt(asked.path) === "table") throw planted("table");
      return table.choose(asked);
    },
  };
}

function plant(observer: Observer, plantedAt: (path: string) => PlantedStep | null): Observer {
  return {
    begin: (start) => {
      const at = plantedAt(start.path);
      const strike = (step: PlantedStep): void => {
        if (at === step) throw planted(step);
      };
      strike("begin");
      const seen = observer.begin(start);
      return (
        seen && {
          requestBody: (body) => {
            strike("requestBody");
            seen.requestBody(body);
          },
          responseHead: (status, headers) => {
            strike("responseHead");
            seen.responseHead(status, headers);
          },
          responseBytes: (bytes) => {
            strike("responseBytes");
            seen.responseBytes(bytes);
          },
          end: (end) => {
            strike("end");
            seen.end(end);
          },
        }
      );
    },
  };
}

interface World {
  disturb(random: Random): string;
  calm(): void;
  close(): void;
}

const prlimit = "/usr/bin/prlimit";

/** The kernel then refuses to make any file of this process longer, as a full disk does. */
function limitFiles(limit: string): void {
  execFileSync(prlimit, ["--pid", String(process.pid), `--fsize=${limit}`]);
}

/** Each disturbance ends with the next one. */
function openWorld(data: string): World {
  const away = `${data}-away`;
  const realNow = Date.now;
  let undo: (() => void)[] = [];
  let thread: Worker | null = null;
  const onWorker = (worker: Worker): void => {
    thread = worker;
  };
  process.on("worker", onWorker);
  // At first there is no ledger, and none can be made.
  writeFileSync(data, "a file where a folder must be");
  undo.push(() => {
    rmSync(data);
    mkdirSync(data);
  });
  const calm = (): void => {
    for (const each of undo.toReversed()) each();
    undo = [];
  };
  const killThread = (): void => void thread?.terminate();
  const disturbances: Readonly<Record<string, (random: Random) => void>> = {
    "thread killed": killThread,
    "ledger gone": () => {
      renameSync(data, away);
      writeFileSync(data, "a file where a folder must be");
      undo.push(() => {
        rmSync(data);
        renameSync(away, data);
      });
      killThread();
    },
    "ledger locked": () => {
      const holder = new DatabaseSync(join(data, "ledger.db"));
      undo.push(() => holder.close());
      try {
        holder.exec("BEGIN EXCLUSIVE");
      } catch {
        // The thread was writing: it holds the lock itself.
      }
    },
    ...(existsSync(prlimit)
      ? {
          "disk full": () => {
            limitFiles("8192:");
            undo.push(() => limitFiles("unlimited:"));
          },
        }
      : {}),
    "clock jumped": (random) => {
      const jumpMs = Math.floor((random() - 0.5) * 2 * 86_400_000);
      Date.now = () => realNow() + jumpMs;
      undo.push(() => {
        Date.now = realNow;
      });
    },
  };
  return {
    calm,
    disturb: (random) => {
      calm();
      const names = Object.keys(disturbances);
      const name = names[Math.floor(random() * names.length)] ?? "";
      disturbances[name]?.(random);
      return name;
    },
    close: () => {
      calm();
      process.off("worker", onWorker);
    },
  };
}
