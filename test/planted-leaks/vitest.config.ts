// The suite's own configuration on files that leak: run by test/planted-leaks.test.ts, never with the suite.
import type { ViteUserConfig } from "vitest/config";
import suite from "../../vitest.config.ts";

const config: ViteUserConfig = {
  ...suite,
  test: { ...suite.test, include: ["test/planted-leaks/*.leak.ts"] },
};

export default config;
