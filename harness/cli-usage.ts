// Runs one strata command and prints, as JSON, its output, the CPU time of all its threads and its peak memory.
import { runCli } from "../src/cli/run-cli.ts";

let out = "";
const status = await runCli(process.argv.slice(2), {
  out: (text) => void (out += text),
  error: (text) => process.stderr.write(text),
  env: process.env,
});
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6;
console.log(JSON.stringify({ out, cpuSeconds, rssMb: Math.round(maxRSS / 1024) }));
process.exitCode = status;
