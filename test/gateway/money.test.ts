// Goal: the dollars in the gateway's ledger are the provider's bill. Method: a hundredth of
// `npm run -s torture -- gateway-money`: real HTTP to a simulator for each protocol.
import { expect, test } from "vitest";
import { experiment } from "../../torture/gateway-money.ts";

test("a thousand calls on every protocol, streamed, aborted, retried and threaded, cost in the ledger what was billed", async () => {
  const lines: string[] = [];
  const { checks, figures } = await experiment.run({
    traces: undefined,
    options: { calls: "1000" },
    progress: (line) => lines.push(line),
  });
  const problems = lines.filter((line) => line.startsWith("PROBLEM"));
  expect({ failed: checks.filter(({ ok }) => !ok), problems }).toEqual({
    failed: [],
    problems: [],
  });
  expect(figures["protocols"]).toBe(7);
  for (const kind of ["streamed", "aborted", "failed and retried", "threads continued"]) {
    expect(figures[kind]).toBeGreaterThan(10);
  }
}, 120_000);
