// A home directory for `strata setup`, and settings files with the oddities that people's own ones have.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { onTestFinished } from "vitest";
import { strata, type Ran } from "../../src/cli/test-kit.ts";

export interface Home {
  readonly path: string;
  /** Writes a file under the home. */
  put(name: string, text: string | Uint8Array): void;
  text(name: string): string;
  /** Every file under the home with its bytes, and every folder. */
  all(): Readonly<Record<string, string>>;
  run(...words: readonly string[]): Promise<Ran>;
}

export function makeHome(): Home {
  const path = mkdtempSync(join(tmpdir(), "strata-setup-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const at = (name: string): string => join(path, name);
  return {
    path,
    put: (name, text) => {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), text);
    },
    text: (name) => readFileSync(at(name), "utf8"),
    all: () => listAll(path),
    run: (...words) =>
      strata({ HOME: path, STRATA_DATA_DIR: at("data/strata"), PATH: "" }, ...words),
  };
}

function listAll(folder: string): Readonly<Record<string, string>> {
  if (!existsSync(folder)) return {};
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).map(
    (entry): [string, string] => {
      const path = join(entry.parentPath, entry.name);
      return [path, entry.isDirectory() ? "" : readFileSync(path).toString("base64")];
    },
  );
  return Object.fromEntries(entries);
}

const name = fc.oneof(
  fc.constantFrom("env", "statusLine", "permissions", "provider", "a b", "ü", "hooks"),
  fc.string({ minLength: 1, maxLength: 6 }).filter((each) => each !== "__proto__"),
);
const leaf = fc.oneof(fc.boolean(), fc.integer(), fc.constant(null), fc.string({ maxLength: 8 }));
const { tree } = fc.letrec<{ tree: unknown; object: Record<string, unknown> }>((tie) => ({
  tree: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie("tree"), { maxLength: 3 }), tie("object")),
  object: fc.dictionary(name, tie("tree"), { maxKeys: 4 }),
}));

/** An object whose `env` and the like are objects, as clients demand. */
const settings = fc
  .tuple(
    fc.dictionary(name, tree, { maxKeys: 5 }),
    fc.dictionary(name, fc.string(), { maxKeys: 3 }),
  )
  .map(([fields, env]) => ({
    ...Object.fromEntries(
      Object.entries(fields).filter(([key]) => !["env", "provider", "statusLine"].includes(key)),
    ),
    ...("env" in fields ? { env } : {}),
  }));

const gap = fc.constantFrom(
  "",
  " ",
  "\n",
  "\n  ",
  "\n\t\t",
  "\r\n    ",
  " // why, so: {\n",
  "/* , } */",
  "  ",
);

/** JSON as people write it: comments, trailing commas, tabs, Windows line ends, everything on one line. */
export const oddJson: fc.Arbitrary<{ readonly value: unknown; readonly text: string }> = fc
  .record({
    value: settings,
    gaps: fc.array(gap, { minLength: 1, maxLength: 30 }),
    trails: fc.array(fc.boolean(), { minLength: 1, maxLength: 10 }),
    mark: fc.constantFrom("", "\uFEFF"),
  })
  .map(({ value, gaps, trails, mark }) => {
    let at = 0;
    const next = (): string => gaps[at++ % gaps.length] ?? "";
    const trail = (): string => (trails[at % trails.length] === true ? "," : "");
    const print = (each: unknown): string => {
      if (Array.isArray(each))
        return `[${each.map((one) => `${next()}${print(one)}`).join(",")}${next()}]`;
      if (typeof each !== "object" || each === null) return JSON.stringify(each);
      const members = Object.entries(each).map(
        ([key, one]) => `${next()}${JSON.stringify(key)}${next()}:${next()}${print(one)}${next()}`,
      );
      return `{${members.join(",")}${members.length > 0 ? trail() : ""}${next()}}`;
    };
    return { value, text: `${mark}${next()}${print(value)}${next()}` };
  });

const bareKey = fc.constantFrom(
  "model",
  "sandbox_mode",
  "notify",
  "approval-policy",
  "a.b",
  "'x y'",
);
const tomlValue = fc.constantFrom(
  '"gpt-6.1-sol"   # the good one',
  "'single'",
  "[ 1,\n   2, # two\n ]",
  '"""\nmany\n[lines]\n"""',
  '{ a = 1,  b = "x" }',
  "2026-11-19T09:00:00Z",
  "12_345",
  "true",
);
const line = fc.oneof(
  fc.tuple(bareKey, tomlValue).map(([key, value]) => ({ key, text: `${key} = ${value}` })),
  fc.constantFrom("# a note", "", "   ").map((text) => ({ key: null, text })),
);
const lines = fc
  .uniqueArray(line, { selector: ({ key, text }) => key ?? `${text}-`, maxLength: 5 })
  .map((all) => all.map(({ text }) => text));

/** TOML with comments, tables, values over several lines, and either line end. */
export const oddToml: fc.Arbitrary<string> = fc
  .record({
    root: lines,
    tables: fc.uniqueArray(
      fc.tuple(fc.constantFrom("[mcp_servers.x]", '[profiles."a b"]', "[[rows]]"), lines),
      { selector: ([head]) => head, maxLength: 3 },
    ),
    end: fc.constantFrom("\n", "\r\n"),
    old: fc.constantFrom(
      "",
      'openai_base_url = "http://old.example/v1" # before',
      "openai_base_url='x'",
    ),
    last: fc.constantFrom("", "\n"),
  })
  .map(({ root, tables, end, old, last }) => {
    const all = [...root, old, ...tables.flatMap(([head, inside]) => ["", head, ...inside])];
    return `${all.join("\n")}${last}`.replaceAll("\n", end);
  });

export const oddEnv: fc.Arbitrary<string> = fc
  .record({
    lines: fc.array(
      fc.constantFrom(
        "# a note",
        "GEMINI_API_KEY=abc # x",
        'export A="b c"',
        "",
        "GOOGLE_GEMINI_BASE_URL=https://old.example",
        "GOOGLE_GEMINI_BASE_URL='https://older.example'",
        "  INDENTED=1",
      ),
      { maxLength: 6 },
    ),
    end: fc.constantFrom("\n", "\r\n"),
    last: fc.constantFrom("", "\n"),
  })
  .map(({ lines: all, end, last }) => `${all.join("\n")}${last}`.replaceAll("\n", end));
