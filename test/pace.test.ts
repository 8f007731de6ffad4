// A hundredth of `npm run -s torture -- pace`: an adversary picks gaps and edits.
import { expect, test } from "vitest";
import { experiment } from "../torture/pace.ts";

test("ten sessions of an adversary stay within four writes and 2.2 times the best simple policy", async () => {
  const report = await experiment.run({
    traces: undefined,
    options: { sessions: "10" },
    progress: () => {},
  });
  expect(report.figures["sessions"]).toBe(10);
  expect(report.checks.map(({ name, ok }) => [name, ok])).toEqual([
    ["worst excess in writes", true],
    ["worst ratio to best simple", true],
  ]);
});
