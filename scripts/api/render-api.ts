// Every value that users import, with a sentence each, from the comments beside the code.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface ExportedValue {
  readonly name: string;
  /** One or more sentences; empty where neither the value nor its file says anything. */
  readonly sentence: string;
}

export interface EntryPoint {
  /** As it is imported. */
  readonly name: string;
  readonly source: string;
  readonly values: readonly ExportedValue[];
}

/** All entry points of the package, in its order. */
export function readEntryPoints(): readonly EntryPoint[] {
  const { name, exports }: PackageJson = JSON.parse(readFileSync("package.json", "utf8"));
  return Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target === "string") return [];
    const source = target.types.replace("./dist/", "src/").replace(".d.ts", ".ts");
    return [{ name: `${name}${path.slice(1)}`, source, values: valuesOf(source) }];
  });
}

interface PackageJson {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

export function renderApiDocument(): string {
  const parts = readEntryPoints().flatMap(({ name, values }) => [
    `## \`${name}\``,
    "",
    ...values.flatMap((value) => [`### ${value.name}`, "", value.sentence, ""]),
  ]);
  return [
    "<!-- Generated from the entry points of package.json by npm run fix. -->",
    "",
    "# What can be imported",
    "",
    "Functions and values by entry point. Types are exported beside them.",
    "",
    ...parts,
  ].join("\n");
}

function valuesOf(file: string): readonly ExportedValue[] {
  const text = readFileSync(file, "utf8");
  const lists = [...text.matchAll(/^export \{([^}]*)\} from "([^"]+)";$/gm)];
  const listed = lists.flatMap(([, names = "", from = ""]) =>
    namesIn(names).map((name) => ({ name, sentence: sentenceOf(name, join(dirname(file), from)) })),
  );
  const own = [...text.matchAll(definitions)].map(([, name = ""]) => ({
    name,
    sentence: sentenceOf(name, file),
  }));
  return [...listed, ...own].toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

const definitions = /^export (?:async )?(?:function\*?|const|class) (\w+)/gm;

function namesIn(list: string): readonly string[] {
  return list
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "" && !each.startsWith("type "));
}

/** The comment of the value; else the first line of its file, which says what the file is for. */
function sentenceOf(name: string, file: string): string {
  const text = readFileSync(file, "utf8");
  const pattern = new RegExp(
    String.raw`(?:/\*\*((?:(?!\*/)[\s\S])*)\*/\n)?^export (?:async )?(?:function\*?|const|class) ${name}\b`,
    "m",
  );
  const found = pattern.exec(text);
  if (found !== null) return toProse(found[1] ?? "") || firstLine(text);
  for (const [, names = "", from = ""] of text.matchAll(/^export \{([^}]*)\} from "([^"]+)";$/gm)) {
    if (namesIn(names).includes(name)) return sentenceOf(name, join(dirname(file), from));
  }
  return "";
}

function toProse(comment: string): string {
  return comment
    .split("\n")
    .map((line) => line.replace(/^\s*\*?\s?/, "").trimEnd())
    .filter((line) => !line.startsWith("@"))
    .join(" ")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ \([A-Z]+-\d+(?:, [A-Z]+-\d+)*\)/g, "")
    .trim();
}

function firstLine(text: string): string {
  const line = text.split("\n").find((each) => each.startsWith("// ")) ?? "";
  return toProse(line.replace("// ", ""));
}
