// A hundredth of `npm run -s torture -- rollups`: stored sums are right whatever was killed.
import { expect, test } from "vitest";
import { experiment } from "../torture/rollups.ts";

test("sums stay right when processes are killed that write, sum up, reprice and delete", async () => {
  const report = await experiment.run({
    traces: undefined,
    options: { kills: "4", store: "sqlite" },
    progress: () => {},
  });
  expect(report.figures["answers compared"]).toBeGreaterThan(0);
  expect(report.checks.map(({ name, ok }) => [name, ok])).toEqual([
    ["processes killed", true],
    ["problems of processes", true],
    ["stored sums that differ from their rows", true],
    ["answers that differ from a recomputation", true],
  ]);
});
