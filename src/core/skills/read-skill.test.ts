import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readSkill, readSkillBytes } from "./read-skill.ts";

const minimal = "---\nname: pdf\ndescription: Fills forms.\n---\n\n# Forms\n\nFill them.\n";

describe("a valid SKILL.md", () => {
  test("gives name, description and body, and the version of the body (M-31, M-51)", () => {
    expect(readSkill(minimal, "pdf")).toEqual({
      skill: {
        name: "pdf",
        description: "Fills forms.",
        body: "# Forms\n\nFill them.",
        version: "fc856567de990f1d",
        sizeTokens: 4,
        license: null,
        compatibility: null,
        metadata: {},
        allowedTools: [],
      },
      violations: [],
      warnings: [],
    });
  });

  test("is the same with a byte order mark, Windows line endings and blanks behind the fences", () => {
    const windows = `\ufeff${minimal.replaceAll("---", "---  ").replaceAll("\n", "\r\n")}`;
    expect(readSkill(windows, "pdf")).toEqual(readSkill(minimal, "pdf"));
    expect(readSkillBytes(Buffer.from(windows), 100, "pdf")).toEqual(readSkill(minimal, "pdf"));
  });

  test("has a new version when the body changes, and not when the description does", () => {
    expect(versionIn(minimal.replace("Fills forms.", "Other."))).toBe("fc856567de990f1d");
    expect(versionIn(minimal.replace("Fill them.", "Fill it."))).not.toBe("fc856567de990f1d");
  });

  test("may have every optional field, with values as they were spelled", () => {
    const text = `---
name: "pdf"
description: >-
  Fills forms:
  all of them.
license: Apache-2.0
compatibility: node 24
metadata:
  version: 1.0
  stable: true
  long: 12345678901234567890
  none:
allowed-tools: Read Bash(git add:*) Bash(ls)
---
`;
    const { skill, warnings } = readSkill(text, "pdf");
    expect(skill).toMatchObject({
      description: "Fills forms: all of them.",
      license: "Apache-2.0",
      compatibility: "node 24",
      metadata: { version: "1.0", stable: "true", long: "12345678901234567890", none: "" },
      allowedTools: ["Read", "Bash(git add:*)", "Bash(ls)"],
    });
    expect(warnings).toEqual([
      { rule: "body-empty", message: "there is nothing after the frontmatter" },
    ]);
  });

  test("keeps rules and fences inside its body", () => {
    const text = `${minimal}\n---\n\n\`\`\`yaml\n---\na: b\n---\n\`\`\`\n`;
    expect(readSkill(text, "pdf").skill?.body).toBe(
      "# Forms\n\nFill them.\n\n---\n\n```yaml\n---\na: b\n---\n```",
    );
  });

  test("keeps names that mean something to JavaScript as plain metadata", () => {
    const text = "---\nname: a\ndescription: b\nmetadata: {__proto__: x, constructor: y}\n---\n";
    const metadata = readSkill(text, "a").skill?.metadata ?? {};
    expect(Object.entries(metadata)).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
  });
});

describe("what could be better is a warning, and the skill is valid", () => {
  const head = "---\nname: a\ndescription: b\n";

  test.each([
    ["a body above 5000 tokens", `${head}---\n${"word ".repeat(4001)}`, ["body-long"]],
    ["a body of 5000 tokens", `${head}---\n${"w".repeat(20_003)}`, []],
    ["fields the format does not have", `${head}model: fast\nhooks: {}\n---\nx`, ["field-unknown"]],
    ["tools as a list", `${head}allowed-tools: [Read, Grep]\n---\nx`, ["allowed-tools-list"]],
    ["a direction override", `${head}---\nx\u202ey`, ["hidden-characters"]],
    ["letters written as tags", `${head}---\nx\u{e0041}`, ["hidden-characters"]],
    ["a joiner that emoji need", `${head}---\n👩‍💻`, []],
    ["joiners that scripts need", `${head}---\nمی\u200cخواهم क्\u200dष`, []],
    ["a joiner between other letters", `${head}---\nig\u200dnore`, ["hidden-characters"]],
    ["a zero width space", `${head}---\nx\u200by`, ["hidden-characters"]],
    ["a word joiner", `${head}---\nx\u2060y`, ["hidden-characters"]],
    ["a soft hyphen", `${head}---\nx\u00ady`, ["hidden-characters"]],
    ["a further variation selector", `${head}---\nx\u{e0100}y`, ["hidden-characters"]],
  ])("%s", (_what, text, rules) => {
    expect(warningsOf(text)).toEqual(rules);
  });
});

describe("what is wrong is reported in a way that can be mended", () => {
  test("a colon in plain text, with its line in the file", () => {
    expect(messagesOf("---\nname: a\ndescription: Use when: asked\n---\n")).toEqual([
      "frontmatter-yaml: line 3: Nested mappings are not allowed in compact mappings; put quotes around a value with a colon or a special first character",
    ]);
  });

  test("a fence that never closes", () => {
    expect(messagesOf("---\nname: a\ndescription: b\n\n# Body\n")).toEqual([
      "frontmatter-unclosed: no second line is ---; put one where the frontmatter ends",
    ]);
  });

  test("everything about the fields together", () => {
    const text = `---\nname: My--Skill\nlicense: [MIT]\nmetadata: {a: [b]}\ncompatibility: ${"x".repeat(501)}\n---\n`;
    expect(messagesOf(text)).toEqual([
      "license-text: license is a list; make it text",
      'name-characters: the name "My--Skill" has "M"; use a to z, 0 to 9 and hyphens',
      'name-hyphens: the name "My--Skill" has a hyphen at an end, or two in a row',
      "description-missing: there is no description; say what the skill does and when to use it",
      "compatibility-length: the compatibility has 501 characters, at most 500",
      'metadata-map: "a" in metadata is a list; make it text',
    ]);
  });

  test("a name that YAML reads as nothing is to be quoted", () => {
    expect(messagesOf("---\nname: null\ndescription: b\n---\n", "null")).toEqual([
      'name-missing: there is no name; write the line name: "null"',
    ]);
    expect(messagesOf("---\ndescription: b\n---\n", "pdf")).toEqual([
      "name-missing: there is no name; write the line name: pdf",
    ]);
  });

  test("a second document, without the words of a library", () => {
    expect(messagesOf("---\nname: a\n...\nname: b\n---\n")).toEqual([
      "frontmatter-yaml: line 4: there is a second YAML document; leave out the line --- or ... before it",
    ]);
  });

  test("a field whose name has a line break, on one line", () => {
    const text = '---\nname: a\ndescription: b\nmodel: x\n"c\\nok": y\n---\nx';
    expect(readSkill(text, "a").warnings.map(({ message }) => message)).toEqual([
      'the format has no model, "c\\nok"; own fields belong under metadata',
    ]);
  });

  test("a folder of another name", () => {
    expect(messagesOf("---\nname: pdf\ndescription: b\n---\n", "pdfs")).toEqual([
      'name-folder: the name is "pdf" and the folder "pdfs"; make them the same',
    ]);
  });

  test("lengths are counted in characters, not in code units", () => {
    const fits = `---\nname: a\ndescription: ${"🛠".repeat(1024)}\n---\nx`;
    expect(messagesOf(fits)).toEqual([]);
    expect(messagesOf(fits.replace("🛠", "🛠🛠"))).toEqual([
      "description-length: the description has 1025 characters, at most 1024",
    ]);
  });
});

describe("hostile files are refused quickly and by name", () => {
  test("a billion laughs", () => {
    const lines = ["a0: &a0 lol"];
    for (let level = 1; level <= 20; level += 1) {
      lines.push(
        `a${level}: &a${level} [${Array(9)
          .fill(`*a${level - 1}`)
          .join(", ")}]`,
      );
    }
    expect(ruleOf(lines.join("\n"))).toBe("frontmatter-alias");
  });

  test.each([
    ["brackets", "[".repeat(16_000)],
    ["braces", "{a: ".repeat(4000)],
    ["dashes", "- ".repeat(8000)],
    ["question marks", "? ".repeat(8000)],
    ["colons", "a: ".repeat(5000)],
    ["indentation", Array.from({ length: 170 }, (_, depth) => `${" ".repeat(depth)}k:`).join("\n")],
  ])("nesting by %s", (_what, yaml) => {
    expect(ruleOf(yaml)).toBe("frontmatter-depth");
  });

  test.each([
    ["a constructor", "name: !!js/function 'function () {}'", "frontmatter-tag"],
    ["a second document", "name: a\n--- {name: b}", "frontmatter-yaml"],
    ["an unknown directive", "%EVIL\n--- {name: b}", "frontmatter-yaml"],
    ["a key twice", "name: a\nname: b", "frontmatter-yaml"],
    ["half a character", 'name: a\ndescription: "\\ud800"', "frontmatter-characters"],
    ["20 KB of frontmatter", `name: ${"a".repeat(20_000)}`, "frontmatter-size"],
  ])("%s", (_what, yaml, rule) => {
    expect(ruleOf(yaml)).toBe(rule);
  });

  test("ten megabytes are refused by their size alone", () => {
    expect(readSkillBytes(new Uint8Array(0), 10_000_000, "a").violations).toEqual([
      {
        rule: "file-size",
        message:
          "the file has 10000000 bytes, at most 524288 are read; move parts of it into files beside it",
      },
    ]);
  });

  test("nothing makes reading throw, and a skill comes exactly when no rule is broken", () => {
    const yamlish = fc.string({
      unit: fc.constantFrom(
        "a",
        ":",
        " ",
        "\n",
        "-",
        "[",
        "]",
        "{",
        "}",
        "&",
        "*",
        "!",
        '"',
        "'",
        "|",
        ">",
        "#",
        "%",
        "?",
        ",",
        "\t",
        "\r",
        "~",
      ),
      maxLength: 120,
    });
    fc.assert(
      fc.property(yamlish, fc.string({ unit: "binary" }), (yaml, body) => {
        const { skill, violations } = readSkill(`---\n${yaml}\n---\n${body}`, "a");
        expect(skill === null).toBe(violations.length > 0);
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const { skill, violations } = readSkillBytes(bytes, bytes.length, "a");
        expect(skill === null).toBe(violations.length > 0);
      }),
    );
  });
});

function versionIn(text: string): string | undefined {
  return readSkill(text, "pdf").skill?.version;
}

function warningsOf(text: string): readonly string[] {
  const { skill, warnings } = readSkill(text, "a");
  expect(skill).not.toBeNull();
  return warnings.map(({ rule }) => rule);
}

function messagesOf(text: string, folder = "a"): readonly string[] {
  return readSkill(text, folder).violations.map(({ rule, message }) => `${rule}: ${message}`);
}

function ruleOf(frontmatter: string): string | undefined {
  return readSkill(`---\n${frontmatter}\n---\n`, "a").violations[0]?.rule;
}
