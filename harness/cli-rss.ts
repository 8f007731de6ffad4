// Runs one command of strata and prints, instead of its output, how much memory it took at most, in MB.
import { runCli } from "../src/cli/run-cli.ts";

const status = await runCli(process.argv.slice(2), {
  out: () => {},
  error: (text) => process.stderr.write(text),
  env: process.env,
});
console.log(Math.round(process.resourceUsage().maxRSS / 1024));
process.exitCode = status;
