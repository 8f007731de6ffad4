// Start-up time of the program, compared with an empty script on the same Node.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { medianMsOf } from "../harness/measure.ts";
import { atMost, type Experiment } from "../harness/report.ts";

export const experiment: Experiment = {
  summary: "start of the built program, over an empty Node script",
  async run({ progress }) {
    progress("building");
    execFileSync("npm", ["run", "-s", "build"], { stdio: ["ignore", 2, 2] });
    const folder = mkdtempSync(join(tmpdir(), "strata-bench-cli-"));
    try {
      const empty = join(folder, "empty.js");
      writeFileSync(empty, "");
      const program = "dist/cli/main.js";
      const ms = await medianMsOf(
        {
          empty: () => start(empty),
          version: () => start(program, "--version"),
          help: () => start(program, "--help"),
          models: () => start(program, "models", "show", "claude-sonnet-5-5", "--json"),
        },
        { rounds: 31, warmups: 3 },
      );
      return {
        figures: {
          "empty script ms": ms.empty,
          "strata --version ms": ms.version,
          "strata --help ms": ms.help,
          "strata models show ms": ms.models,
          "strata models show over an empty script": ms.models / ms.empty,
        },
        checks: [atMost("strata --version over an empty script", ms.version / ms.empty, 1.6)],
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function start(file: string, ...args: string[]): void {
  const { status } = spawnSync(process.execPath, [file, ...args]);
  if (status !== 0) throw new Error(`${file} ${args.join(" ")} exited with ${status}`);
}
