// Goal: whatever fails around the gateway, clients see what their upstream said. Method: a hundredth of
// `npm run -s torture -- gateway`, with its own faults in every part.
import { expect, test } from "vitest";
import { experiment } from "../../torture/gateway.ts";

test("a hundred exchanges among faults of the gateway, its ledger, upstreams and clients end as the upstream said, and no token is missing", async () => {
  const lines: string[] = [];
  const { checks, figures } = await experiment.run({
    traces: undefined,
    options: { requests: "100" },
    progress: (line) => lines.push(line),
  });
  expect({ failed: checks.filter(({ ok }) => !ok), lines }).toEqual({ failed: [], lines: [] });
  expect(checks).toHaveLength(9);
  expect(Number(figures["of them in the ledger"])).toBeGreaterThan(15);
}, 60_000);
