// Goal: the bodies of clouds are billed right. Method: random conversations are spelled for Bedrock and Vertex, and billed
// a second time from the conversations themselves, by the naive reading.
import { expect, test } from "vitest";
import { compareClouds } from "../../harness/naive/compare-clouds.ts";
import type { Lookback } from "../../src/core/models/marker-rules.ts";
import type {
  BillableMarker,
  BillableRequest,
} from "../../src/simulator/billing/billable-request.ts";

test("Converse, InvokeModel and rawPredict are billed as their conversations are, piece by piece", async () => {
  const { steps, hits, difference } = await compareClouds({ seed: 20_261_118, requests: 60 });
  expect(difference).toBeNull();
  expect(steps).toBe(180);
  expect(hits).toBeGreaterThan(20);
});

type Misread = (request: BillableRequest) => BillableRequest;

test.each<[string, Misread]>([
  ["a lookback of 21", lookback({ positions: 21 })],
  ["a lookback of 19", lookback({ positions: 19 })],
  [
    "runs of tools counted as one position",
    lookback({ counting: "a run of tool uses or of tool results is one" }),
  ],
  ["cache points that all last five minutes", markers(() => ({ lifetime: "5m" }))],
  ["cache points on the block after", markers(({ block }) => ({ block: block + 1 }))],
])("the comparison sees %s", async (_name, misread) => {
  // The first seed that shows all of them.
  const { difference } = await compareClouds({ seed: 5, requests: 60, misread });
  expect(difference).not.toBeNull();
});

function markers(change: (marker: BillableMarker) => Partial<BillableMarker>): Misread {
  return (request) => ({
    ...request,
    markers: request.markers.map((marker) => ({ ...marker, ...change(marker) })),
  });
}

function lookback(change: Partial<Extract<Lookback, { kind: "positions" }>>): Misread {
  return (request) => {
    const { cache } = request.model;
    const rules = cache.markers;
    if (rules === null || rules.lookback.kind !== "positions") return request;
    const changed = { ...rules, lookback: { ...rules.lookback, ...change } };
    return { ...request, model: { ...request.model, cache: { ...cache, markers: changed } } };
  };
}
