import { expect, test } from "vitest";
import { searchSkills } from "./search-skills.ts";

const skills = [
  { name: "zip", description: "Packs files." },
  { name: "pdf-forms", description: "Fills a PDF form." },
  { name: "pdf", description: "Reads files." },
  { name: "office", description: "Makes a pdf of a document." },
];

test("the name counts two, the description one, case does not; equal ones go by name (M-52)", () => {
  expect(found("PDF", 10)).toEqual(["pdf-forms 3", "pdf 2", "office 1"]);
  expect(found(" files ", 10)).toEqual(["pdf 1", "zip 1"]);
});

test("a blank query lists the first by name (M-52)", () => {
  expect(found("  ", 2)).toEqual(["office 0", "pdf 0"]);
  expect(searchSkills(skills, "", 2).total).toBe(4);
});

test("the limit cuts, and the total says how many there are", () => {
  const search = searchSkills(skills, "pdf", 1);
  expect(search.matches.map(({ skill }) => skill.name)).toEqual(["pdf-forms"]);
  expect(search.total).toBe(3);
});

test("where no skill has the whole query, its words are looked for", () => {
  expect(searchSkills(skills, "fill pdf quickly", 10).byWord).toBe(true);
  expect(found("fill pdf quickly", 10)).toEqual(["pdf-forms 4", "pdf 2", "office 1"]);
  expect(searchSkills(skills, "pdf form", 10).byWord).toBe(false);
  expect(found("nothing", 10)).toEqual([]);
});

test("a word counts once however often it occurs, and of very many only the first are looked for", () => {
  expect(found("zip zzz zip zip", 10)).toEqual(["zip 2"]);
  const many = Array.from({ length: 200_000 }, (_, index) => `w${index}`).join(" ");
  expect(searchSkills(skills, `${many} zip`, 10)).toEqual({
    matches: [],
    total: 0,
    byWord: true,
    wordsLeftOut: 200_001 - 64,
  });
  expect(searchSkills(skills, `zip ${many}`, 10).total).toBe(1);
});

test("a query is no pattern", () => {
  expect(found(".*", 10)).toEqual([]);
});

function found(query: string, limit: number): readonly string[] {
  return searchSkills(skills, query, limit).matches.map(
    ({ skill, score }) => `${skill.name} ${score}`,
  );
}
