// Preloaded into a process whose CPU time is wanted: at its end it writes, to the pipe that BENCH_CPU_PIPE names, the
// microseconds that all of its threads took.
import { writeSync } from "node:fs";

const pipe = process.env["BENCH_CPU_PIPE"];
if (pipe !== undefined) {
  // Workers and processes that this one starts are preloaded with this file, too, and have no such pipe.
  delete process.env["BENCH_CPU_PIPE"];
  process.on("exit", () => {
    const { user, system } = process.cpuUsage();
    writeSync(Number(pipe), String(user + system));
  });
}
