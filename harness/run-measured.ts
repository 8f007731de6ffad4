// `node run-measured.ts CHECKOUT TASK`: runs a bench of any checkout several times in one process, and prints its last
// report with the CPU time of what is no start-up. The first run only warms up.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Experiment, Measured, Report, Settings } from "./report.ts";

export interface MeasuredTask extends Pick<Settings, "traces" | "options">, Measured {
  readonly bench: string;
}

export interface MeasuredReport extends Report {
  readonly cpuMs: number;
}

const [folder = "", text = ""] = process.argv.slice(2);
const { bench, from, runs, ...settings } = JSON.parse(text) as MeasuredTask;
const file = pathToFileURL(join(folder, `bench/${bench}.ts`)).href;
const { experiment } = (await import(file)) as { experiment: Experiment };

let cpuMs = 0;
let report: Omit<Report, "name"> = { figures: {}, checks: [] };
for (let run = 0; run < runs; run += 1) {
  let startMs: number | null = null;
  const progress = (line: string): void => {
    if (line === from) startMs ??= cpuNow();
  };
  report = await experiment.run({ ...settings, progress });
  if (startMs === null) throw new Error(`bench ${bench} does not say "${from}"`);
  if (run > 0) cpuMs += cpuNow() - startMs;
}
const measured: MeasuredReport = { name: bench, ...report, cpuMs };
console.log(JSON.stringify(measured));

function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
