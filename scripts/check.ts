// npm run check: every check that is not a test, each named, all of them run even when one fails.
import { spawnSync } from "node:child_process";

/** What the compiler found last time, so that it reads again only what changed since. */
const keptTypes = "node_modules/.cache/types.tsbuildinfo";

const checks: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ["format", "oxfmt", "--check", "."],
  ["lint", "oxlint", "--type-aware"],
  ["types", "tsc", "--incremental", "--tsBuildInfoFile", keptTypes],
  ["types of the page", "tsc", "-p", "src/dashboard/page"],
  ["unused code", "knip"],
  ["protocol names", "node", "scripts/check-protocol-names.ts"],
  ["generated docs", "node", "scripts/generate-docs.ts", "--check"],
  ["exports", "node", "scripts/check-exports.ts"],
  ["requirements", "node", "scripts/check-requirements.ts"],
  ["cycles and crumbs", "node", "scripts/check-shape.ts"],
];

const failed = checks.filter(([name, command, ...args]) => {
  const start = performance.now();
  const { status } = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  return status !== 0;
});
if (failed.length > 0) {
  console.error(
    `npm run check: ${failed.map(([name]) => name).join(", ")} failed; try npm run fix`,
  );
  process.exitCode = 1;
}
