import { expect, test } from "vitest";
import { listModels } from "./catalogue.ts";
import { describeModel } from "./describe-model.ts";
import { resolveModel } from "./resolve-model.ts";

const at = "2026-11-15";

test("Sonnet 5.5 is described with its minimum and its dollars per million tokens", () => {
  const model = describeModel(resolveModel("claude-sonnet-5-5").facts, { at });
  expect(model).toMatchObject({
    id: "claude-sonnet-5-5",
    status: "active",
    minimumTokens: 512,
    usdPerMTok: { input: 2, output: 10, read: 0.1, write5m: 2.5, write1h: 4 },
  });
  expect(model.priceRows.map((row) => [row.from, row.read])).toEqual([
    [null, 0.2],
    ["2026-10-07", 0.1],
  ]);
});

test("an unpriced model is described with the reason", () => {
  const model = describeModel(resolveModel("claude-mythos-preview").facts, { at });
  expect([model.usdPerMTok, model.unpriced]).toEqual([
    null,
    "the preview's price is in none of our sources",
  ]);
});

test("what a provider keeps under a name is described in dollars per million tokens and hour, by date", () => {
  const { cache } = describeModel(resolveModel("gemini-3.8-flash").facts, { at });
  expect(cache.stored).toEqual({
    defaultSeconds: 3600,
    minimumTokens: 4096,
    storage: [
      { from: null, usdPerMTokHour: 0.5 },
      { from: "2027-01-01", usdPerMTokHour: 1 },
    ],
  });
});

test("every description survives JSON", () => {
  for (const facts of listModels()) {
    const model = describeModel(facts, { at });
    expect(JSON.parse(JSON.stringify(model))).toEqual(model);
  }
});
