// The order of test files: those that take seconds first, so that none of them is left for the end, when other processors
// have nothing to do any more.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes all processors runs beside what waits. Files that are not listed follow, the largest first. */
export const slowFiles: readonly string[] = [
  "test/hostile.test.ts",
  "src/edge/stores/postgres/stalls.test.ts",
  "src/edge/stores/postgres/outages.test.ts",
  "test/ledger/postgres.test.ts",
  "test/as-installed.test.ts",
  "test/compaction/postgres.test.ts",
  "test/engine/processes.test.ts",
  "test/ledger/errors.test.ts",
  "test/gateway/money.test.ts",
  "test/gateway/torture.test.ts",
  "test/gateway/serve.test.ts",
  "test/otel/gateway-calls.test.ts",
  "test/otel/engine-turns.test.ts",
  "test/gateway/optimize.test.ts",
  "test/dashboard/dashboard.test.ts",
  "test/dashboard/demo.test.ts",
  "test/dashboard/cross-section.test.ts",
  "test/dashboard/walk.test.ts",
  "test/dashboard/inspect.test.ts",
  "test/replay/page.test.ts",
  "test/gateway/repairs.test.ts",
  "test/gateway/signing.test.ts",
  "test/gateway/nodes.test.ts",
  "test/mcp/mcp-server.test.ts",
  "test/gateway/node-faults.test.ts",
  "test/gateway/restart.test.ts",
  "test/queue/stores.test.ts",
  "test/compaction/sqlite.test.ts",
  "test/ledger/sqlite.test.ts",
  "test/gateway-record/recorder.test.ts",
  "test/chat/endings.test.ts",
  "test/golden/golden.test.ts",
  "test/bench-against.test.ts",
  "test/billing/plan-against-billing.test.ts",
  "test/simulator-clients/vercel-ai.test.ts",
  "test/billing/clouds-differential.test.ts",
  "test/gateway/streams.test.ts",
  "test/engine/faults.test.ts",
  "test/rollups.test.ts",
  "test/analytics/postgres.test.ts",
  "test/analytics/sqlite.test.ts",
  "test/engine/stored-prefix.test.ts",
  "src/edge/stores/postgres/races.test.ts",
];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not the method of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const place = slowFiles.findIndex((name) => moduleId.endsWith(`/${name}`));
  return place === -1 ? slowFiles.length : place;
}
