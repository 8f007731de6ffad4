import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toSkillIndex } from "./skill-index.ts";

const skills = [
  { name: "pdf", description: "Read and fill PDF files." },
  { name: "Zebra", description: "Stripes." },
  { name: "archive", description: "Pack\n  and unpack.\n" },
];

test("the index has a heading, one line on how to use it, and a line per skill by name (M-33)", () => {
  expect(toSkillIndex(skills)).toBe(
    [
      "## Skills",
      "",
      "Look for a skill with skill_search and read it with skill_load before you use it; " +
        "one marked [preloaded] is in this prompt under its own heading.",
      "",
      "- Zebra: Stripes.",
      "- archive: Pack and unpack.",
      "- pdf: Read and fill PDF files.",
    ].join("\n"),
  );
});

test("a skill whose body is in the prompt is marked as preloaded", () => {
  expect(toSkillIndex(skills, ["pdf"])?.split("\n").slice(4)).toEqual([
    "- Zebra: Stripes.",
    "- archive: Pack and unpack.",
    "- pdf [preloaded]: Read and fill PDF files.",
  ]);
});

test("there is no index without skills", () => {
  expect(toSkillIndex([])).toBeNull();
});

test("a preloaded name that is not in the index changes nothing", () => {
  expect(toSkillIndex(skills, ["unknown"])).toBe(toSkillIndex(skills));
});

test("the order in which skills are found does not show", () => {
  const shuffled = fc.shuffledSubarray(skills, { minLength: skills.length });
  fc.assert(
    fc.property(shuffled, (given) => {
      expect(toSkillIndex(given, ["pdf"])).toBe(toSkillIndex(skills, ["pdf"]));
    }),
  );
});
