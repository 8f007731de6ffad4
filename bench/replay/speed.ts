// What one command over everything takes: requests priced per CPU second of all its threads, and its memory.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { atLeast, atMost, type Check, type Figure } from "../../harness/report.ts";
import type { ReplayReport } from "../../src/replay/report.ts";

export interface SpeedResult {
  readonly figures: Readonly<Record<string, Figure>>;
  readonly checks: readonly Check[];
}

/** In a new process, so that loading the program and starting its threads counts too. */
export function measureSpeed(folders: readonly string[]): SpeedResult {
  const program = fileURLToPath(new URL("../../harness/cli-usage.ts", import.meta.url));
  const words = [program, "replay", ...folders, "--json"];
  const text = execFileSync(process.execPath, words, { encoding: "utf8", maxBuffer: 1e9 });
  const { out, cpuSeconds, rssMb } = JSON.parse(text) as Used;
  const { requests, automaticOnly } = JSON.parse(out) as ReplayReport;
  const priced = requests + (automaticOnly?.requests ?? 0);
  return {
    figures: { "requests priced": priced, "CPU s of one command": cpuSeconds },
    checks: [
      atLeast("requests priced per CPU second", priced / cpuSeconds, 1500),
      atMost("RSS MB of one command over everything", rssMb, 400),
    ],
  };
}

interface Used {
  readonly out: string;
  readonly cpuSeconds: number;
  readonly rssMb: number;
}
