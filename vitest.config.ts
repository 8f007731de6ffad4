import { availableParallelism } from "node:os";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { SlowFirst } from "./harness/slow-first.ts";

const config: ViteUserConfig = defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is waited for comes late on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    // One more than there are processors, because many tests wait for databases, processes and time.
    maxWorkers: availableParallelism() + 1,
    // One process for many files: a new one for each would load the same code again. What a file leaves behind fails it.
    isolate: false,
    sequence: { sequencer: SlowFirst },
    // Everything the suite puts out is searched for planted secrets.
    globalSetup: ["harness/watch/watch-run.ts"],
    setupFiles: ["harness/watch/watch-outputs.ts"],
  },
});

export default config;
