import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readSkill } from "./read-skill.ts";
import { toSkillText } from "./frontmatter-yaml.ts";

test("a skill is written as a person would", () => {
  expect(
    toSkillText({
      name: "pdf",
      description: "Use when: a form is to be filled.",
      body: "# Forms\r\n\r\nFill them.\n\n",
      metadata: { version: "1.0", author: "someone" },
    }),
  ).toBe(
    '---\nname: pdf\ndescription: "Use when: a form is to be filled."\nmetadata:\n  version: "1.0"\n  author: someone\n---\n\n# Forms\n\nFill them.\n',
  );
});

test("whatever is written is read back the same", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 80 });
  const words = fc.oneof(
    text,
    fc.constantFrom(
      "null",
      "~",
      "yes",
      "1.0",
      "- a",
      "# b",
      "a: b",
      "!x",
      "&y",
      "*z",
      "'",
      '"',
      "---",
      "|",
      "%",
    ),
  );
  fc.assert(
    fc.property(
      words,
      words,
      fc.dictionary(words, words, { maxKeys: 3 }),
      (description, body, metadata) => {
        fc.pre(description.trim() !== "");
        const written = toSkillText({ name: "a", description, body, metadata });
        const { skill, violations } = readSkill(written, "a");
        expect(violations).toEqual([]);
        expect(skill?.description).toBe(description.trim());
        expect(skill?.metadata).toEqual(metadata);
      },
    ),
    { numRuns: 1000 },
  );
});
