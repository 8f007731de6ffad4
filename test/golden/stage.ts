// Where a scenario plays: a simulator behind a server that notes every request, a ledger in a file, a clock that only
// requests, tools and the scenario itself move, and any number of processes one after the other.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fixIds } from "./fixed-ids.ts";
import {
  createSimulator,
  createSummariser,
  openNodeServer,
  type Model,
  type Prompt,
  type Simulator,
  type StrataEvent,
} from "./kit.ts";
import { startMs } from "./normalise.ts";
import { openProcess, type Process, type ProcessOptions } from "./process.ts";
import type { Side } from "./sides.ts";

export interface Stage {
  readonly side: Side;
  readonly simulator: Simulator;
  readonly url: string;
  /** Only of this run. */
  readonly folder: string;
  /** From the ledger. */
  readonly file: string;
  readonly seen: SeenRequest[];
  readonly told: StrataEvent[];
  readonly parts: unknown[];
  readonly results: unknown[];
  /** An engine of its own on the same ledger. */
  readonly start: (options?: ProcessOptions) => Promise<Process>;
  /** Before the answer to a request, counted from 1. A response of its own is given instead. */
  readonly onRequest: (number: number, hook: RequestHook) => void;
  /** That request is never answered; resolves once it has come. */
  readonly hangAt: (number: number) => Promise<void>;
  /** Lets time pass for everybody. */
  readonly pass: (ms: number) => Promise<void>;
  readonly now: () => number;
  /** The first is `turn-1`. */
  readonly nextTurnId: () => string;
  readonly close: () => Promise<void>;
}

export interface SeenRequest {
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: string;
}

export type RequestHook = () => Response | void | Promise<Response | void>;

export interface StageOptions {
  readonly answer: Model;
  /** To whoever asks for a summary; one as it was asked for by default. */
  readonly summary?: Model;
  /** Where the clock starts, in milliseconds since 1970. */
  readonly fromMs?: number;
}

/** Every request takes so long. */
const requestMs = 400;

export async function openStage(side: Side, options: StageOptions): Promise<Stage> {
  const { fromMs = startMs } = options;
  // Whoever comes later has other ids.
  const freeIds = fixIds(fromMs - startMs);
  const folder = mkdtempSync(join(tmpdir(), "strata-golden-"));
  const simulator = createSimulator({
    seed: 1,
    clock: { virtualStartMs: fromMs },
    model: orSummarise(options),
  });
  const seen: SeenRequest[] = [];
  const hooks = new Map<number, RequestHook>();
  const server = await openNodeServer(async (request) => {
    const body = await request.clone().text();
    const headers = [...request.headers.keys()].toSorted();
    const path = new URL(request.url).pathname;
    const number = seen.push({ path, headers, body });
    await simulator.clock.advance(requestMs);
    return (await hooks.get(number)?.()) ?? simulator.fetch(request);
  });
  const processes: Process[] = [];
  let turns = 0;
  const stage: Stage = {
    side,
    simulator,
    url: server.url,
    folder,
    file: join(folder, "ledger.sqlite"),
    seen,
    told: [],
    parts: [],
    results: [],
    start: async (more = {}) => {
      const process = await openProcess(stage, more);
      processes.push(process);
      return process;
    },
    onRequest: (number, hook) => void hooks.set(number, hook),
    hangAt: (number) =>
      new Promise((resolve) => {
        hooks.set(number, () => {
          resolve();
          return new Promise(() => {});
        });
      }),
    pass: (ms) => simulator.clock.advance(ms),
    now: () => simulator.clock.now(),
    nextTurnId: () => `turn-${(turns += 1)}`,
    close: async () => {
      await server.close();
      for (const process of processes) await process.close();
      rmSync(folder, { recursive: true, force: true });
      freeIds();
    },
  };
  return stage;
}

function orSummarise({ answer, summary = createSummariser() }: StageOptions): Model {
  return (prompt) => (asksForSummary(prompt) ? summary(prompt) : answer(prompt));
}

function asksForSummary({ wants, turns }: Prompt): boolean {
  const last = turns.at(-1)?.text ?? "";
  return wants === "summary" || /Write (?:a|one) summary of the (?:whole )?conversation/.test(last);
}
