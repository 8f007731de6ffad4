// Goal: whatever is sent to the API, it answers in its envelope and stays whole. Method: a hundredth of `npm run -s torture -- api`.
import { expect, test } from "vitest";
import { experiment } from "../../torture/api.ts";

test("a thousand hostile requests to the API are answered in its envelope, none of them as a mistake of our own", async () => {
  const lines: string[] = [];
  const { checks, figures } = await experiment.run({
    traces: undefined,
    options: { requests: "1000", seed: "7" },
    progress: (line) => lines.push(line),
  });
  expect({ failed: checks.filter(({ ok }) => !ok), lines }).toEqual({ failed: [], lines: [] });
  expect(checks).toHaveLength(5);
  expect(Number(figures["answers 400"])).toBeGreaterThan(100);
});
