// Runs one strata command and prints its peak memory in MB instead of its output.
import { runCli } from "../src/cli/run-cli.ts";

const status = await runCli(process.argv.slice(2), {
  out: () => {},
  error: (text) => process.stderr.write(text),
  env: process.env,
});
console.log(Math.round(process.resourceUsage().maxRSS / 1024));
process.exitCode = status;
