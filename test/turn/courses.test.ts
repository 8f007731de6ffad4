// Goal: whatever happens in a turn, it ends, and the ledger does not show that a process died. Method: one
// percent of what `npm run -s torture -- turn` plays.
import { expect, test } from "vitest";
import { experiment } from "../../torture/turn.ts";

test("random turns end, and the ledger of those that were killed and resumed is as without kills", async () => {
  const told: string[] = [];
  const options = { courses: "1000", real: "20", seed: "1" };
  const progress = (line: string): void => void told.push(line);
  const { checks } = await experiment.run({ traces: undefined, options, progress });
  expect(told).toEqual([]);
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
});
