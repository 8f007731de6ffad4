// Goal: hostile inputs at every door do no harm, and the run that says so would see it. Method: 2 % of
// `npm run -s torture -- hostile`, and doors with planted faults.
import { expect, test } from "vitest";
import { experiment, toReport } from "../torture/hostile.ts";
import { runHostile } from "../torture/hostile/run-hostile.ts";

test("20,000 hostile inputs at all doors crash, hang and leak nothing, and every refusal says what to do", async () => {
  const lines: string[] = [];
  const { checks } = await experiment.run({
    traces: undefined,
    options: { inputs: "20000" },
    progress: (line) => lines.push(line),
  });
  expect({ failed: checks.filter(({ ok }) => !ok), lines: lines.filter(isFault) }).toEqual({
    failed: [],
    lines: [],
  });
  // A count for each door, and one that it takes some inputs and refuses some; the five faults.
  expect(checks).toHaveLength(17 * 2 + 5);
}, 300_000);

function isFault(line: string): boolean {
  return line.includes("--only");
}

test("a crash, a hang, a key, a missing hint and a touched file are each reported with their input", async () => {
  const seen: string[] = [];
  const result = await runHostile({
    inputs: 1_000_000,
    seed: 7,
    module: new URL("hostile/planted-doors.ts", import.meta.url).href,
    killMs: 1500,
    progress: (line) => seen.push(line),
  });
  const found = result.faults.map(({ door, number, kind }) => `${kind} at ${door} ${number}`);
  expect(found.toSorted()).toEqual([
    "crash at crashing 3",
    "crash at dying 3",
    "crash at rejecting 3",
    "hang at hanging 3",
    "hint at silent 3",
    "key at leaking 3",
    "outside at touching 3",
  ]);
  expect(seen).toContainEqual(expect.stringMatching(/^hang: --seed 7 --door "hanging" --only 3: /));
  const { checks } = toReport(result, 7, true);
  const failed = checks.filter(({ ok }) => !ok);
  expect(failed.map(({ name, value }) => `${name}: ${value}`)).toEqual([
    "crashes: 3",
    "inputs that take more than a second alone: 1",
    "outputs with a planted key: 1",
    "changes outside of the doors' folders: 1",
    "refusals without a code or a hint: 1",
  ]);
});
