// `bench NAME --against DIR`: runs a bench here and in another checkout, in turn, and compares what the two took.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { toComparison, type Comparison, type Round, type Run, type Side } from "./comparison.ts";
import { UsageError, type Measured, type Report, type Settings } from "./report.ts";
import type { MeasuredReport, MeasuredTask } from "./run-measured.ts";

/** Fewer rounds measure the machine, not the code. */
const roundsMin = 7;

export interface Task {
  readonly bench: string;
  /** The bench's own options, the same for both. */
  readonly options: Settings["options"];
  readonly traces: string | undefined;
  readonly against: string;
  readonly rounds: string | undefined;
  readonly cpuRatioMax: number | undefined;
  readonly measured: Measured | undefined;
  readonly progress: (line: string) => void;
}

export function runAgainst({ bench, progress, ...task }: Task): Comparison {
  const count = readRounds(task.rounds);
  const folders = {
    ours: fileURLToPath(new URL("..", import.meta.url)),
    theirs: findCheckout(task.against, bench),
  };
  const { measured, options, traces } = task;
  const run = (side: Side): Run =>
    measured === undefined
      ? runBench(folders[side], bench, { options, traces })
      : runMeasured(folders[side], { ...measured, bench, options, traces });
  const rounds = Array.from({ length: count }, (_, index): Round => {
    progress(`round ${index + 1} of ${count}`);
    // Who goes first changes, so that a machine that slows down or speeds up meets both alike.
    if (index % 2 === 0) return { first: "ours", ours: run("ours"), theirs: run("theirs") };
    const theirs = run("theirs");
    return { first: "theirs", ours: run("ours"), theirs };
  });
  return {
    name: bench,
    against: folders.theirs,
    ...toComparison(rounds, task.cpuRatioMax),
  };
}

function readRounds(text: string | undefined): number {
  const rounds = text === undefined ? roundsMin : Number(text);
  if (Number.isSafeInteger(rounds) && rounds >= roundsMin) return rounds;
  throw new UsageError(`--rounds must be a whole number from ${roundsMin}, not "${text}"`);
}

function findCheckout(path: string, bench: string): string {
  const folder = resolve(path);
  const has = (name: string): boolean => existsSync(join(folder, name));
  const refuse = (problem: string, advice: string): never => {
    throw new UsageError(`--against ${path}: ${problem}. ${advice}`);
  };
  const make = `git worktree add --detach ${folder} COMMIT`;
  const link = `ln -s "$PWD/node_modules" ${folder}/node_modules`;
  if (!existsSync(folder)) refuse("there is no such folder", `Make it: ${make} && ${link}`);
  if (!has("harness/run.ts") || !has("bench"))
    refuse("this is not a checkout of Strata", "Make one: git worktree add --detach DIR COMMIT");
  if (!has("node_modules")) refuse("there is no node_modules", `Run npm ci there, or: ${link}`);
  if (!has(`bench/${bench}.ts`))
    refuse(`it has no bench called ${bench}`, "Take a commit that has it, or another bench");
  return folder;
}

/** A fresh process of that checkout's own harness, which may be older and know nothing of all this. */
function runBench(
  folder: string,
  bench: string,
  { options, traces }: Pick<Task, "options" | "traces">,
): Run {
  const given = Object.entries({ ...options, traces }).filter(([, value]) => value !== undefined);
  const flags = given.map(([key, value]) => `--${key}=${value}`);
  const preload = new URL("./report-cpu.ts", import.meta.url).href;
  const args = ["bench", bench, "--json", ...flags];
  const ended = runNode(folder, ["--import", preload, join(folder, "harness/run.ts"), ...args]);
  const cpuMs = Number(ended.output[3]) / 1000;
  // 1 says that a check failed, and also that the process died; only the first comes with a report.
  const report = ended.status === 1 || ended.status === 0 ? parseReport(ended.stdout) : undefined;
  if (report === undefined || cpuMs === 0) throw noReport(folder, args, ended.stderr);
  return toRun(report, cpuMs, ended.wallMs);
}

/** A fresh process of this checkout's harness that runs the other's bench. */
function runMeasured(folder: string, task: MeasuredTask): Run {
  const script = fileURLToPath(new URL("./run-measured.ts", import.meta.url));
  const ended = runNode(folder, [script, folder, JSON.stringify(task)]);
  const report = ended.status === 0 ? parseReport(ended.stdout) : undefined;
  if (report === undefined) throw noReport(folder, ["bench", task.bench], ended.stderr);
  return toRun(report, report.cpuMs, ended.wallMs);
}

function runNode(folder: string, args: readonly string[]) {
  const startMs = performance.now();
  const ended = spawnSync(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, BENCH_CPU_PIPE: "3" },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    encoding: "utf8",
    maxBuffer: 100_000_000,
  });
  return { ...ended, wallMs: performance.now() - startMs };
}

function toRun({ figures, checks }: Report, cpuMs: number, wallMs: number): Run {
  const failedChecks = checks.filter(({ ok }) => !ok).map(({ name }) => name);
  return { cpuMs, wallMs, figures, failedChecks };
}

function noReport(folder: string, args: readonly string[], stderr: string): UsageError {
  const last = stderr.trimEnd().split("\n").slice(-20).join("\n");
  return new UsageError(`${args.join(" ")} gave no report in ${folder}:\n${last}`);
}

function parseReport(text: string): MeasuredReport | undefined {
  try {
    return JSON.parse(text) as MeasuredReport;
  } catch {
    return undefined;
  }
}
