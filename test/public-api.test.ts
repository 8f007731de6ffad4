// Goal: every export is explained. Method: the entry points as package.json names them, and docs/api.md.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { readEntryPoints } from "../scripts/api/render-api.ts";

const entries = readEntryPoints();

test("strata-context has at most 60 values; the pure parts are in strata-context/core", () => {
  const [main, core] = entries;
  expect(main?.name).toBe("strata-context");
  expect(main?.values.length).toBeLessThanOrEqual(60);
  expect(core?.name).toBe("strata-context/core");
  expect(core?.values.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["assemble", "planCache", "explainMiss", "anthropicMessages"]),
  );
});

test.each(entries)("every value of $name has a heading with a sentence", ({ values }) => {
  const document = readFileSync("docs/api.md", "utf8");
  expect(values.length).toBeGreaterThan(0);
  for (const { name, sentence } of values) {
    expect({ name, sentence }).toEqual({ name, sentence: expect.stringMatching(/\w+ \S+/) });
    expect(document).toContain(`### ${name}\n\n${sentence}\n`);
  }
});

test.each(entries)(
  "what $name is read to export is what it exports",
  async ({ source, values }) => {
    const module: object = await import(/* @vite-ignore */ resolve(source));
    expect(values.map(({ name }) => name)).toEqual(Object.keys(module).toSorted());
  },
);
