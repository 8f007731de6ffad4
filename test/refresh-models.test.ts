// Goal: another source's prices never get into our data by accident. Method: compare with sources made up here.
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { compareModels } from "../scripts/refresh-models/compare-models.ts";
import { readGenaiPrices } from "../scripts/refresh-models/read-genai-prices.ts";
import type { TheirModel, TheirSource } from "../scripts/refresh-models/their-prices.ts";
import { withNewRow } from "../scripts/refresh-models/write-prices.ts";
import { createCatalogue, listModels, type Catalogue } from "../src/core/models/catalogue.ts";

const sonnet: TheirModel = {
  provider: "anthropic",
  id: "claude-sonnet-5-5",
  names: ["claude-sonnet-5-5"],
  windowTokens: 1_000_000,
  rows: [
    {
      from: null,
      prices: { input: 3, output: 10, read: 0.1, write: 2.5, write1h: null },
      tier: null,
    },
  ],
  caveat: null,
};

const source = (datedOn: string | null, ...models: TheirModel[]): TheirSource => ({
  name: "theirs",
  datedOn,
  models,
});

describe("a price that differs", () => {
  test.each([
    ["2027-01-01", "take"],
    ["2026-01-01", "keep"],
    [null, "look"],
  ] as const)("of a source dated %s is one to %s", (datedOn, verdict) => {
    const { compared, differences } = compareModels(
      listModels(),
      source(datedOn, sonnet),
      "2026-11-15",
    );
    expect(compared).toBe(1);
    expect(differences).toMatchObject([
      { model: "claude-sonnet-5-5", field: "input", ours: "2", theirs: "3", verdict },
    ]);
  });

  test("is found by exact names only, and what only one side knows is listed", () => {
    const { compared, onlyOurs, onlyTheirs } = compareModels(
      listModels(),
      source("2027-01-01", { ...sonnet, id: "claude-sonnet-5-5x", names: ["claude-sonnet-5-5x"] }),
      "2026-11-15",
    );
    expect(compared).toBe(0);
    expect(onlyOurs).toContain("claude-sonnet-5-5");
    expect(onlyTheirs).toEqual(["anthropic:claude-sonnet-5-5x"]);
  });
});

describe("a price taken over", () => {
  const file = `{
  "models": {
    "a": { "prices": [{ "input": 1, "output": 2, "write": { "5m": 1.25, "1h": 2 } }] },
    "b": { "prices": [{ "input": 1.0, "output": 2 }] }
  }
}
`;
  const change = {
    model: "a",
    row: {
      from: null,
      prices: { input: 0.5, output: 1, read: null, write: 0.625, write1h: null },
      tier: null,
    },
    datedOn: "2027-01-01",
    source: "theirs",
    shortestWrite: "5m",
  };

  test("becomes one more dated row, and leaves every other model's bytes alone", () => {
    const text = withNewRow(file, change) ?? "";
    expect(JSON.parse(text)).toEqual({
      models: {
        a: {
          prices: [
            { input: 1, output: 2, write: { "5m": 1.25, "1h": 2 } },
            { from: "2027-01-01", input: 0.5, output: 1, write: { "5m": 0.625, "1h": null } },
          ],
          checkedOn: "2027-01-01",
          source: "theirs",
        },
        b: { prices: [{ input: 1, output: 2 }] },
      },
    });
    expect(text).toContain('"b": { "prices": [{ "input": 1.0, "output": 2 }] }');
  });

  test("finds the model whatever its file looks like, and replaces its own source only", () => {
    const tight = `{"note":"\\n    \\"a\\": {","families":{"a":{"prices":[]}},"models":{"a":{"note":"\\"source\\": \\"x\\"","source":"ours","prices":[{"input":1,"output":2}]}}}`;
    expect(JSON.parse(withNewRow(tight, change) ?? "")).toEqual({
      note: '\n    "a": {',
      families: { a: { prices: [] } },
      models: {
        a: {
          note: '"source": "x"',
          source: "theirs",
          prices: [
            { input: 1, output: 2 },
            { from: "2027-01-01", input: 0.5, output: 1 },
          ],
          checkedOn: "2027-01-01",
        },
      },
    });
  });

  test("is refused where the model is not there or has no prices", () => {
    expect(withNewRow(file, { ...change, model: "c" })).toBeNull();
    expect(withNewRow('{"models":{"a":{"unpriced":"no"}}}', change)).toBeNull();
  });

  test("is refused where a later row is announced already", () => {
    const later = file.replace(
      '"output": 2, "write"',
      '"from": "2027-06-01", "output": 2, "write"',
    );
    expect(withNewRow(later, change)).toBeNull();
  });
});

// Written out, so that a price of ours that becomes wrong is one difference more. Model, field, ours, theirs.
const knownDifferences = [
  ["claude-sonnet-4", "tier.above", "200000", null],
  ["gpt-6-astra", "tier.above", "272000", "271999"],
  ["gpt-5.6-sol", "tier.above", "272000", "271999"],
  ["gpt-5.6-terra", "tier.above", "272000", "271999"],
  ["gpt-5.6-luna", "tier.above", "272000", "271999"],
  ["gpt-5.5", "window", "1050000", "1000000"],
  ["gpt-5.5", "tier.above", "272000", "271999"],
  ["gpt-5.5-pro", "window", "1050000", "1000000"],
  ["gpt-5.5-pro", "tier.above", "272000", "271999"],
  ["gpt-5.4", "tier.above", "272000", "271999"],
  ["gpt-5.4-pro", "tier.above", "272000", "271999"],
  ["gpt-5-chat-latest", "window", "128000", "400000"],
  ["gpt-4.1", "window", "1047576", "1000000"],
  ["gpt-4.1-mini", "window", "1047576", "1000000"],
  ["gpt-4.1-nano", "window", "1047576", "1000000"],
  ["gpt-4-32k", "window", "32768", "32000"],
  ["gemini-3.8-flash", "window", "1048576", "1000000"],
  ["gemini-3.7-flash", "window", "1048576", "1000000"],
  ["gemini-3.6-flash", "window", "1048576", "1000000"],
  ["gemini-3.5-flash", "window", "1048576", "1000000"],
  ["gemini-3.5-flash-lite", "window", "1048576", "1000000"],
  ["gemini-3.1-flash-lite", "window", "1048576", "1000000"],
  ["gemini-3-flash-preview", "window", "1048576", "1000000"],
  ["gemini-2.5-flash-lite", "window", "1048576", "1000000"],
  ["deepseek-v4-pro", "input", "1.32", "0.66"],
  ["deepseek-v4-pro", "output", "3.96", "1.98"],
  ["deepseek-v4-pro", "read", "0.044", "0.022"],
  ["deepseek-v4-flash", "input", "0.44", "0.22"],
  ["deepseek-v4-flash", "output", "1.32", "0.66"],
  ["deepseek-v4-flash", "read", "0.014", "0.007"],
  ["deepseek-chat", "input", "0.27", "0.135"],
  ["deepseek-chat", "output", "1.1", "0.55"],
  ["deepseek-chat", "read", "0.07", "0.035"],
  ["deepseek-reasoner", "input", "0.55", "0.135"],
  ["deepseek-reasoner", "output", "2.19", "0.55"],
  ["deepseek-reasoner", "read", "0.14", "0.035"],
  ["grok-4.6", "tier.above", "200000", "199999"],
  ["grok-4.5", "tier.above", "200000", "199999"],
  ["grok-4.3", "tier.above", "200000", "199999"],
  ["glm-5.3-flash", "input", "0.15", "0.075"],
  ["glm-5.3-flash", "output", "0.5", "0.25"],
  ["glm-5.3-flash", "read", "0.03", "0.015"],
  ["MiniMax-M3", "write.5m", "0.3", null],
  ["MiniMax-M3", "tier.write.5m", "0.6", null],
];

test("the installed price package differs from our data exactly where we know it does", () => {
  const { stdout, status } = spawnSync(
    "node",
    ["scripts/refresh-models.ts", "--json", "--on", "2026-11-15"],
    { encoding: "utf8" },
  );
  const { compared, differences } = JSON.parse(stdout) as ReturnType<typeof compareModels>;
  expect(compared).toBe(120);
  expect(differences.map(({ model, field, ours, theirs }) => [model, field, ours, theirs])).toEqual(
    knownDifferences,
  );
  expect(differences.filter(({ verdict }) => verdict === "take")).toEqual([]);
  expect(status).toBe(0);
});

const found = (catalogue?: Catalogue) =>
  compareModels(listModels(catalogue), readGenaiPrices(), "2026-11-15").differences;

test("a wrong price of ours is one difference more", () => {
  const wrong = createCatalogue({
    origin: "test",
    override: { "gpt-4": { prices: [{ input: 300, output: 60 }] } },
  });
  expect(found(wrong).length).toBe(found().length + 1);
  expect(found(wrong)).toContainEqual(
    expect.objectContaining({ model: "gpt-4", field: "input", ours: "300", theirs: "30" }),
  );
});

test("a day that is not in the calendar is refused", () => {
  const { stderr, status } = spawnSync(
    "node",
    ["scripts/refresh-models.ts", "--on", "2026-99-99"],
    {
      encoding: "utf8",
    },
  );
  expect(stderr).toContain('"2026-99-99" is no day like 2026-11-15');
  expect(status).toBe(2);
});
