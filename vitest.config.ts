import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 60_000,
    // Everything the suite puts out is searched for planted secrets.
    globalSetup: ["harness/watch-run.ts"],
    setupFiles: ["harness/watch-outputs.ts"],
  },
});

export default config;
