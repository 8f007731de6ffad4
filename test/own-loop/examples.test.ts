// Goal: the examples run as they are written. Method: run them without a key, each as its own process.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test.each([
  [
    "anthropic-sdk",
    "ANTHROPIC_API_KEY",
    /call 1: complete, \$0\.0.*\ncall 2: complete, \$0\.0.*\nIt is sunny in Paris\.\n$/,
  ],
  ["openai-sdk", "OPENAI_API_KEY", /It is sunny in Paris\.\n\(done\)\n$/],
  [
    "vercel-ai-sdk",
    "ANTHROPIC_API_KEY",
    /call 1: 2 markers.*\ncall 2: \d markers.*\nIt is sunny in Paris\.\n$/,
  ],
  [
    "with-strata",
    "ANTHROPIC_API_KEY",
    /call 1: 2 markers, 0 tokens read.*\n[\s\S]*call 2: \d markers, \d{4} tokens read/,
  ],
] as const)("examples/%s.ts asks for the weather through a tool", (name, keyName, said) => {
  const { [keyName]: _, ...env } = process.env;
  const { stdout, stderr, status } = spawnSync(process.execPath, [`examples/${name}.ts`], {
    encoding: "utf8",
    env,
  });
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toContain(`(no ${keyName}: this runs on the simulator)`);
  expect(stdout).toMatch(said);
});
