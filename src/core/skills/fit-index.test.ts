import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toSkillIndex } from "../assembly/skill-index.ts";
import { fitIndex } from "./fit-index.ts";

test("what fits is listed as it is, without a note", () => {
  const skills = [
    { name: "b", description: "Second\n one." },
    { name: "a", description: "First." },
  ];
  expect(fitIndex(skills)).toEqual({
    listed: [
      { name: "a", description: "First." },
      { name: "b", description: "Second one." },
    ],
    shortened: [],
    leftOut: [],
    note: null,
  });
});

test("long descriptions are shortened first, all to one length, and a note says so", () => {
  const skills = [
    { name: "long", description: "word ".repeat(100) },
    { name: "short", description: "Short." },
  ];
  const { listed, shortened, leftOut, note } = fitIndex(skills, 400);
  expect(listed.map(({ name }) => name)).toEqual(["long", "short"]);
  expect(listed[0]?.description).toMatch(/^(word )+(word|wor|wo|w)…$/);
  expect(listed[1]?.description).toBe("Short.");
  expect(shortened).toEqual(["long"]);
  expect(leftOut).toEqual([]);
  expect(note).toBe(
    "To keep this list short, descriptions that end in … are shortened; skill_search finds them all.",
  );
});

test("what still does not fit is left out, global skills first, and counted", () => {
  const skills = Array.from({ length: 50 }, (_, index) => ({
    name: `skill-${String(index).padStart(2, "0")}`,
    description: "What it does and when. ".repeat(10),
    source: index < 45 ? ("global" as const) : ("workspace" as const),
  }));
  const { listed, leftOut, note } = fitIndex(skills, 1500);
  expect(listed.map(({ name }) => name)).toEqual([
    "skill-00",
    "skill-01",
    "skill-02",
    "skill-03",
    "skill-04",
    "skill-05",
    "skill-06",
    "skill-45",
    "skill-46",
    "skill-47",
    "skill-48",
    "skill-49",
  ]);
  expect(leftOut).toHaveLength(38);
  expect(note).toBe(
    "To keep this list short, descriptions that end in … are shortened, and 38 more skills are not listed; skill_search finds them all.",
  );
});

test("any skills in any order give one text that keeps to the length, and every omission is reported", () => {
  const skill = fc.record({
    name: fc.stringMatching(/^[a-z0-9]{1,20}$/),
    description: fc.string({ unit: "grapheme", minLength: 1, maxLength: 300 }),
    source: fc.constantFrom("global" as const, "workspace" as const),
  });
  const skills = fc.uniqueArray(skill, { selector: ({ name }) => name, maxLength: 40 });
  fc.assert(
    fc.property(skills, fc.integer({ min: 300, max: 6000 }), (given, lengthMax) => {
      const fitted = fitIndex(given, lengthMax);
      expect(fitIndex(given.toReversed(), lengthMax)).toEqual(fitted);
      const names = given.map(({ name }) => name);
      expect([...fitted.listed.map(({ name }) => name), ...fitted.leftOut].toSorted()).toEqual(
        names.toSorted(),
      );
      expect(fitted.note === null).toBe(fitted.shortened.length + fitted.leftOut.length === 0);
      const heading = toSkillIndex([{ name: "x", description: "" }])?.replace("- x: ", "") ?? "";
      const text = toSkillIndex(fitted.listed, names) ?? "";
      expect(text.length - heading.length + (fitted.note ?? "").length).toBeLessThanOrEqual(
        lengthMax,
      );
      expect(text.isWellFormed()).toBe(true);
    }),
  );
});
