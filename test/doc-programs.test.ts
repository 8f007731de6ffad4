// Goal: programs that documents show can be written from outside. Method: each is run as a file of its own, with our entry
// points at their sources, offline.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import packageJson from "../package.json" with { type: "json" };
import { makeExample } from "../src/cli/test-kit.ts";

let folder = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-doc-programs-"));
  mkdirSync(join(folder, "work"));
  await makeExample(join(folder, "ledger.db"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const says: Readonly<Record<string, readonly RegExp[]>> = {
  "docs/metrics.md": [
    /agent_turns_total\{agent="agent",outcome="completed"\} 1/,
    /llm_calls_total/,
  ],
  "docs/analytics.md": [/cost_usd: '0\.100000'[\s\S]*invalid_group_by/],
  "docs/configuration.md": [
    /^ana claude-sonnet-5-5 system prompt, soul, environment, model guidance, peers, language, [^\n]*\nbob claude-haiku-4-5 system prompt, model guidance, peers, /m,
  ],
  "docs/caching.md": [/^5m: [^\n]+\n(?:[^\n]+\n)*2 markers\n$/],
  "docs/gateway.md": [/^200\nana claude-sonnet-5-5 \d+n\n$|^ana claude-sonnet-5-5 \d+n\n200\n$/],
  "docs/engine.md": [/agent_turns_total\{agent="ana",outcome="completed"\} 1/],
};

const programs = Object.entries(says).flatMap(([document, printed]) =>
  programsIn(document).map((code, index) => ({ document, code, index, printed: printed[index] })),
);

test("documents show as many programs as are checked here", () => {
  expect(programs.length).toBe(Object.values(says).flat().length);
});

test.each(programs)("$document, program $index", ({ document, code, index, printed }) => {
  const file = join(folder, `${document.replaceAll("/", "-")}-${index}.ts`);
  writeFileSync(
    file,
    code.replaceAll(/from "strata-context([^"]*)"/g, (_all, entry) => from(entry)),
  );
  const { stdout, stderr, status } = spawnSync(process.execPath, [file], {
    encoding: "utf8",
    cwd: join(folder, "work"),
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      HOME: folder,
      STRATA_STORE: document.endsWith("analytics.md") ? join(folder, "ledger.db") : `${file}.db`,
      METRICS_PORT: "0",
      TWO_AGENTS: resolve("examples/two-agents/strata.yaml"),
    },
  });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(stdout).toMatch(printed ?? /$^/);
});

/** What can be run by itself says where everything comes from. */
function programsIn(document: string): readonly string[] {
  const blocks = [...readFileSync(document, "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, code = ""]) => (code.includes('from "strata-context') ? [code] : []));
}

function from(entry: unknown): string {
  const found = Object.entries(packageJson.exports).find(([name]) => name === `.${String(entry)}`);
  const target = typeof found?.[1] === "object" ? found[1].default : "";
  const source = target.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts");
  return `from ${JSON.stringify(resolve(source))}`;
}
