// Reads and writes the YAML of a SKILL.md. What is read is untrusted: bounded before parsing, nothing expanded, every
// value as text. The only file of core that uses a YAML library.
import {
  CST,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  parseDocument,
  stringify,
  type ParsedNode,
  type YAMLParseError,
} from "yaml";
import { skillLimits, type SkillViolation } from "./skill-rules.ts";

/** A frontmatter value. Numbers and the like stay as written: `1.0` does not become 1. */
export type Field =
  | { readonly kind: "none" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly Field[] }
  | { readonly kind: "map"; readonly entries: ReadonlyMap<string, Field> };

/** The caller bounds the size. */
export function readFrontmatter(yaml: string): ReadonlyMap<string, Field> | SkillViolation {
  const refused = lookAhead(yaml);
  if (refused !== null) return refused;
  const document = parseDocument(yaml, {
    version: "1.2",
    schema: "core",
    resolveKnownTags: false,
    logLevel: "error",
  });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) return toViolation(problem);
  const { contents } = document;
  if (!isMap(contents)) {
    const found = contents === null ? "empty" : isSeq(contents) ? "a list" : "plain text";
    return {
      rule: "frontmatter-mapping",
      message: `the frontmatter is ${found}; write lines such as name: my-skill`,
    };
  }
  if (depthOf(contents) > skillLimits.depthMax) return tooDeep();
  const field = toField(contents);
  return field.kind === "map" ? field.entries : new Map();
}

/** One line per field. Quotes text that YAML would read as something else. */
export function writeFrontmatter(fields: Readonly<Record<string, unknown>>): string {
  return stringify(fields, { lineWidth: 0, version: "1.2", schema: "core" });
}

export interface NewSkill {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The caller reads the result back: the rules are checked only there. */
export function toSkillText({ name, description, body, metadata = {} }: NewSkill): string {
  const fields = {
    name,
    description: description.trim(),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
  return `---\n${writeFrontmatter(fields)}---\n\n${body.replace(/\r\n?/g, "\n").trimEnd()}\n`;
}

/**
 * Refuses YAML that is expensive to parse or means something else than it shows. Works on tokens: the parser is
 * recursive, and a few kilobytes of brackets would overflow its stack.
 */
function lookAhead(yaml: string): SkillViolation | null {
  let isScalarNext = false;
  let brackets = 0;
  let onLine = 0;
  for (const token of new Lexer().lex(yaml)) {
    if (isScalarNext) {
      isScalarNext = false;
      continue;
    }
    const type = CST.tokenType(token);
    if (type === "alias" || type === "anchor") return hasAlias(token);
    if (type === "tag") return hasTag(token);
    if (type === "scalar") isScalarNext = true;
    if (type === "flow-map-start" || type === "flow-seq-start") brackets += 1;
    if (type === "flow-map-end" || type === "flow-seq-end") brackets -= 1;
    if (type === "seq-item-ind" || type === "explicit-key-ind" || type === "map-value-ind") {
      onLine += 1;
    }
    if (type === "comma" || type === "newline") onLine = 0;
    if (brackets > skillLimits.depthMax || onLine > nestedOnLineMax) return tooDeep();
  }
  return null;
}

/** A sentence with colons is another mistake and gets its own message. */
const nestedOnLineMax = 32;

function hasAlias(token: string): SkillViolation {
  return {
    rule: "frontmatter-alias",
    message: `the frontmatter has the anchor or alias ${toShown(token)}; write the value out, or in quotes`,
  };
}

function hasTag(token: string): SkillViolation {
  return {
    rule: "frontmatter-tag",
    message: `the frontmatter has the tag ${toShown(token)}; leave it out, or put the value in quotes`,
  };
}

function tooDeep(): SkillViolation {
  return {
    rule: "frontmatter-depth",
    message: `the frontmatter is nested more than ${skillLimits.depthMax} deep; make it flat`,
  };
}

/** Bounded by the checks before, and by indentation, which takes space. */
function depthOf(node: ParsedNode | null): number {
  if (isMap(node)) return 1 + Math.max(0, ...node.items.map(({ value }) => depthOf(value)));
  if (isSeq(node)) return 1 + Math.max(0, ...node.items.map((item) => depthOf(item)));
  return 0;
}

function toField(node: ParsedNode | null): Field {
  if (isScalar(node)) {
    if (node.value === null) return { kind: "none" };
    return {
      kind: "text",
      text: typeof node.value === "string" ? node.value : (node.source ?? ""),
    };
  }
  if (isSeq(node)) return { kind: "list", items: node.items.map((item) => toField(item)) };
  if (!isMap(node)) return { kind: "none" };
  const entries = node.items.map(({ key, value }): [string, Field] => {
    const name = toField(key);
    return [name.kind === "text" ? name.text : `(a ${name.kind})`, toField(value)];
  });
  return { kind: "map", entries: new Map(entries) };
}

function toViolation({
  code,
  message,
  linePos,
}: Pick<YAMLParseError, "code" | "message" | "linePos">): SkillViolation {
  const firstLine = (message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:?$/, "");
  const what =
    code === "MULTIPLE_DOCS"
      ? "there is a second YAML document; leave out the line --- or ... before it"
      : firstLine;
  // The fence is line 1.
  const where = linePos === undefined ? "" : `line ${linePos[0].line + 1}: `;
  const advice =
    code === "BLOCK_AS_IMPLICIT_KEY" || code === "BAD_SCALAR_START"
      ? "; put quotes around a value with a colon or a special first character"
      : "";
  return { rule: "frontmatter-yaml", message: `${where}${what}${advice}` };
}

function toShown(token: string): string {
  return token.length <= 40 ? token : `${token.slice(0, 40).toWellFormed()}…`;
}
