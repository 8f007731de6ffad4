// Goal: another source's prices never get into our data by accident. Method: compare with sources made up here.
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { compareModels } from "../scripts/refresh-models/compare-models.ts";
import type { TheirModel, TheirSource } from "../scripts/refresh-models/their-prices.ts";
import { withNewRow } from "../scripts/refresh-models/write-prices.ts";
import { listModels } from "../src/core/models/catalogue.ts";

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

  test("is refused where a later row is announced already", () => {
    const later = file.replace(
      '"output": 2, "write"',
      '"from": "2027-06-01", "output": 2, "write"',
    );
    expect(withNewRow(later, change)).toBeNull();
  });
});

test("the installed price package agrees with our data, or we know better", () => {
  const { stdout, status } = spawnSync(
    "node",
    ["scripts/refresh-models.ts", "--json", "--on", "2026-11-15"],
    {
      encoding: "utf8",
    },
  );
  const { compared, differences } = JSON.parse(stdout) as ReturnType<typeof compareModels>;
  expect(compared).toBeGreaterThan(100);
  expect(differences.filter(({ verdict }) => verdict === "take")).toEqual([]);
  expect(status).toBe(0);
});
