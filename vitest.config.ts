import { availableParallelism } from "node:os";
import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 60_000,
    // Many tests wait for databases and processes: on two cores one worker would leave half of the machine idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Everything the suite puts out is searched for planted secrets.
    globalSetup: ["harness/watch-run.ts"],
    setupFiles: ["harness/watch-outputs.ts"],
  },
});

export default config;
