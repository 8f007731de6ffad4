// Random SKILL.md files, valid or with exactly one broken rule.
import type { SkillRule } from "../../src/core/skills/skill-rules.ts";
import type { Random } from "../random-message.ts";
import { pickOne, randomWords, wholeBetween } from "./random-talk.ts";

export interface SkillFile {
  readonly folder: string;
  /** SKILL.md, unless the broken rule is about the name. */
  readonly fileName: string;
  /** Null if there is something other than a file. */
  readonly bytes: Buffer | null;
  readonly broken: SkillRule | null;
}

interface Parts {
  readonly folder: string;
  readonly fields: readonly (readonly [string, string])[];
  readonly body: string;
}

/** Any spelling the format allows: quotes, compacted text, comments, blank lines, line endings, a byte order mark. */
export function randomSkill(random: Random): SkillFile {
  return write(random, randomParts(random), null);
}

/** The rules that a file's content can break one at a time. */
export const breakable: readonly SkillRule[] = [
  "file-name",
  "file-kind",
  "file-size",
  "file-text",
  "frontmatter-missing",
  "frontmatter-unclosed",
  "frontmatter-size",
  "frontmatter-yaml",
  "frontmatter-alias",
  "frontmatter-tag",
  "frontmatter-depth",
  "frontmatter-mapping",
  "frontmatter-characters",
  "name-missing",
  "name-length",
  "name-characters",
  "name-hyphens",
  "name-folder",
  "description-missing",
  "description-length",
  "license-text",
  "compatibility-text",
  "compatibility-length",
  "metadata-map",
  "allowed-tools-text",
];

export function brokenSkill(random: Random, rule: SkillRule): SkillFile {
  const parts = randomParts(random);
  const good = (changed: Partial<Parts> = {}): SkillFile =>
    write(random, { ...parts, ...changed }, rule);
  const withField = (name: string, value: string): SkillFile =>
    good({ fields: setField(parts.fields, name, value) });
  const named = (name: string): SkillFile =>
    good({ folder: name, fields: setField(parts.fields, "name", name) });
  const raw = (text: string | Buffer): SkillFile => ({
    folder: parts.folder,
    fileName: "SKILL.md",
    bytes: Buffer.from(text),
    broken: rule,
  });
  switch (rule) {
    case "file-name":
      return { ...good(), fileName: pickOne(random, ["skill.md", "Skill.md", "SKILL.MD"]) };
    case "file-kind":
      return { ...good(), bytes: null };
    case "file-access":
      throw new Error("content cannot make a file unreadable");
    case "file-size":
      return good({ body: "All of it. ".repeat(wholeBetween(random, 60_000, 900_000)) });
    case "file-text":
      return raw(pickOne(random, binaries));
    case "frontmatter-missing":
      return raw(
        pickOne(random, [
          `# Title\n\n${parts.body}`,
          `\n${plain(parts)}`,
          `# Title\n${plain(parts)}`,
          "----\n",
          "",
        ]),
      );
    case "frontmatter-unclosed":
      return raw(
        plain(parts).replace("\n---\n", pickOne(random, ["\n", "\n----\n", "\n--\n", "\n ---\n"])),
      );
    case "frontmatter-size":
      return withField("description", randomWords(random, 6000));
    case "frontmatter-yaml":
      return good({ fields: [...parts.fields, pickOne(random, malformed)] });
    case "frontmatter-alias":
      return good({ fields: [...parts.fields, ["metadata", pickOne(random, bombs)]] });
    case "frontmatter-tag":
      return withField(
        "license",
        pickOne(random, ["!custom MIT", "!!binary TUlU", "!!js/function 'f'"]),
      );
    case "frontmatter-depth":
      return withField("metadata", pickOne(random, deep)(wholeBetween(random, 9, 4000)));
    case "frontmatter-mapping":
      return raw(
        `---\n${pickOne(random, ["", "- name\n- description\n", "only text\n", "# nothing\n"])}---\n${parts.body}`,
      );
    case "frontmatter-characters":
      return withField("license", pickOne(random, ['"a\\0b"', '"\\e[31m"', '"\\ud800"']));
    case "name-missing":
      return good({
        fields: pickOne(random, [
          parts.fields.filter(([name]) => name !== "name"),
          setField(parts.fields, "name", pickOne(random, ["", '""', "~", "[a]", "'  '"])),
        ]),
      });
    case "name-length":
      return named("a".repeat(wholeBetween(random, 65, 120)));
    case "name-characters":
      return named(
        pickOne(random, ["Pdf", "pdf_forms", "pdf.forms", "für-alle", "pdf forms", "技能"]),
      );
    case "name-hyphens":
      return named(pickOne(random, ["-pdf", "pdf-", "pdf--forms", "--"]));
    case "name-folder":
      return good({ folder: `${parts.folder}-2` });
    case "description-missing":
      return good({
        fields: pickOne(random, [
          parts.fields.filter(([name]) => name !== "description"),
          setField(parts.fields, "description", pickOne(random, ["", '"  "', "null", "{}"])),
        ]),
      });
    case "description-length":
      return withField("description", "long ".repeat(wholeBetween(random, 206, 1000)).trim());
    case "license-text":
      return withField("license", pickOne(random, ["[MIT]", "{name: MIT}"]));
    case "compatibility-text":
      return withField("compatibility", pickOne(random, ["[node, python]", "{node: 24}"]));
    case "compatibility-length":
      return withField("compatibility", "x".repeat(wholeBetween(random, 501, 900)));
    case "metadata-map":
      return withField(
        "metadata",
        pickOne(random, ["[a, b]", "text", "{tags: [a, b]}", "{a: {b: c}}"]),
      );
    case "allowed-tools-text":
      return withField(
        "allowed-tools",
        pickOne(random, ["{Read: true}", "[[Read]]", "[{Bash: git}]"]),
      );
  }
}

const binaries: readonly Buffer[] = [
  Buffer.from("\u0089PNG\r\n\u001a\n\0\0\0\rIHDR", "latin1"),
  Buffer.from("---\nname: a\ndescription: b\n---\n\0", "latin1"),
  Buffer.from("\ufeff---\nname: a\n---\n", "utf16le"),
  Buffer.from("---\nname: a\ndescription: f\u00fcr\n---\n", "latin1"),
];

const malformed: readonly (readonly [string, string])[] = [
  ["x-note", "Use this when: the user asks"],
  ["x-list", "[a, b"],
  ["x-text", '"no end'],
  ["x-at", "@mention"],
  ["name", "twice"],
  ["x-tab", "\n\ta: b"],
];

const bombs: readonly string[] = [
  "&a [x, x]",
  "{a: &a [lol, lol], b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a], c: [*b, *b, *b, *b, *b, *b, *b, *b, *b]}",
  "*missing",
];

const deep: readonly ((depth: number) => string)[] = [
  (depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`,
  (depth) => "{a: ".repeat(Math.min(depth, 2000)) + "}".repeat(Math.min(depth, 2000)),
  (depth) => `\n  ${"- ".repeat(depth)}x`,
  (depth) => `\n  ${"? ".repeat(depth)}x`,
  () => `\n${Array.from({ length: 12 }, (_, level) => `${" ".repeat(level + 1)}k:`).join("\n")} v`,
];

function randomParts(random: Random): Parts {
  const folder = randomName(random);
  const optional = [
    ["license", pickOne(random, ["MIT", "Apache-2.0", "Complete terms in LICENSE.txt"])],
    ["compatibility", "Needs git and node 24"],
    [
      "metadata",
      pickOne(random, ["{author: a, version: 1.0}", "\n  author: someone\n  version: '2'", ""]),
    ],
    ["allowed-tools", pickOne(random, ["Read Grep", "Bash(git add:*) Read", "[Read, Grep]"])],
    ["x-own", "something else"],
  ] as const;
  const fields = [
    ["name", pickOne(random, [folder, `"${folder}"`, `'${folder}'`])],
    ["description", randomDescription(random)],
    ...optional.filter(() => random() < 0.3),
  ] as const;
  return { folder, fields, body: randomBody(random) };
}

function randomName(random: Random): string {
  const words = Array.from({ length: wholeBetween(random, 1, 4) }, () =>
    pickOne(random, ["pdf", "sql", "review", "plan", "a", "b2b", "deploy", "x86", "notes"]),
  );
  return `${words.join("-")}-${wholeBetween(random, 0, 1e9)}`;
}

function randomDescription(random: Random): string {
  const words = randomWords(random, wholeBetween(random, 1, 60)).slice(0, 900);
  return pickOne(random, [
    words,
    `"Use when: ${words.slice(0, 300)}"`,
    `>-\n  ${words.slice(0, 400)}\n  and more of it`,
    `|\n  ${words.slice(0, 400)}\n\n  - with a list`,
    "Für Übersetzungen — 技能 🛠️",
  ]);
}

function randomBody(random: Random): string {
  const paragraphs = Array.from({ length: wholeBetween(random, 0, 8) }, () =>
    pickOne(random, [
      `# ${randomWords(random, 3)}`,
      randomWords(random, wholeBetween(random, 5, 80)),
      "```yaml\n---\nkey: value\n---\n```",
      "---",
      "- one\n- two",
    ]),
  );
  return `${paragraphs.join("\n\n")}\n`;
}

function plain({ fields, body }: Parts): string {
  const lines = fields.map(([name, value]) => `${name}: ${value}`);
  // No line of the body may look like the end of the frontmatter.
  return `---\n${lines.join("\n")}\n---\n${body.replaceAll("---", "***")}`;
}

function write(random: Random, parts: Parts, broken: SkillRule | null): SkillFile {
  const lines = parts.fields.map(([name, value]) => `${name}: ${value}`);
  const comment = random() < 0.1 ? ["# how this skill is found"] : [];
  const fence = random() < 0.1 ? "---  " : "---";
  const text = [fence, ...comment, ...lines, fence, parts.body].join("\n");
  const ended = random() < 0.2 ? text.replaceAll("\n", "\r\n") : text;
  const marked = random() < 0.1 ? `\ufeff${ended}` : ended;
  return { folder: parts.folder, fileName: "SKILL.md", bytes: Buffer.from(marked), broken };
}

function setField(fields: Parts["fields"], name: string, value: string): Parts["fields"] {
  return [...fields.filter(([each]) => each !== name), [name, value]];
}
