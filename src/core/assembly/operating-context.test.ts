import { expect, test } from "vitest";
import { operatingContext } from "./operating-context.ts";

const text = operatingContext.join("\n\n");

test("the operating context reaches 5,000 tokens by itself, at four characters each (M-21)", () => {
  expect(text.length).toBeGreaterThanOrEqual(20_000);
});

test("a paragraph is short enough to stop close to a minimum", () => {
  expect(operatingContext.filter((paragraph) => paragraph.length > 460)).toEqual([]);
});

test("every paragraph is whole: it is trimmed, ends a sentence, and brings its heading along", () => {
  for (const paragraph of operatingContext) {
    expect(paragraph).toBe(paragraph.trim());
    expect(paragraph).toMatch(/\.$/);
    expect(paragraph).toMatch(/^(?:#{1,2} [^\n]+\n\n)?[A-Z][^\n]+$/);
  }
});

test("no paragraph is there twice", () => {
  expect(new Set(operatingContext).size).toBe(operatingContext.length);
});

test("nothing in it depends on time, ids or a machine (M-22)", () => {
  expect(text).not.toMatch(/\d/);
  expect(text).not.toMatch(/[^\n -~]/);
  expect(text).not.toMatch(/https?:|[\\/~]|\$\{/);
});
