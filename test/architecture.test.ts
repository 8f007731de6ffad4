// Goal: imports point one way. Method: read every import of src/ and rank both ends in one list.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  existsSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// The architecture in one list: a module may import from its own folder and from folders above it.
const ORDER = [
  "core/assert",
  "core/strata-error",
  "core/hash",
  "core/growing",
  "core/nearest-names",
  "core/message",
  "core/models",
  "core/events",
  "core/tokens",
  "core/layers",
  "core/memory",
  "core/skills",
  "core/tools",
  "core/assembly",
  "core/cache",
  "core/wire",
  "core/config",
  "core/routing",
  "core/diagnosis",
  "core/ledger",
  "core/recall",
  "core/compaction",
  "core/session",
  "core/turn",
  "simulator",
  "edge/config",
  "edge/events",
  "edge/stores",
  "edge/files",
  "edge/counters",
  "edge/tools",
  "edge/providers",
  "edge/exporters",
  "engine",
  "host",
  "analytics",
  "replay",
  "api",
  "gateway",
  "integrations",
  "dashboard",
  "cli",
  "core-index",
  "index",
];

// The referee does not play: this is all it may import, and only these may import it.
const REFEREE = {
  mayImport: ["simulator", "core/assert", "core/strata-error", "core/models"],
  importedBy: ["simulator", "edge/providers", "host", "replay", "cli", "index"],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

const sources = globSync("src/**/*.ts", { exclude: ["**/*.test.ts"] }).map((file) => ({
  file,
  code: readFileSync(file, "utf8"),
}));
const imports = sources.flatMap(({ file, code }) => findImports(file, code));

test("imports point up the list", () => {
  expect(imports.filter(({ from, to }) => rank(to) > rank(from))).toEqual([]);
});

test("the referee imports only model facts, and only judges' callers import it", () => {
  expect(imports.filter(breaksReferee)).toEqual([]);
});

test("core takes nothing from outside but two vocabularies, a hash function, a YAML parser and a matcher, not even lazily", () => {
  const outside = sources
    .filter(({ file }) => file.startsWith("src/core/"))
    .flatMap(({ file, code }) => specifiersIn(code).map((name) => `${file} ${name}`))
    .filter((line) => !line.includes(" ."));
  expect(outside.toSorted()).toEqual([
    "src/core/config/match-pattern.ts re2js",
    "src/core/hash.ts node:crypto",
    "src/core/skills/frontmatter-yaml.ts yaml",
    "src/core/tokens/o200k/counter.ts gpt-tokenizer/bpeRanks/cl100k_base",
    "src/core/tokens/o200k/counter.ts gpt-tokenizer/bpeRanks/o200k_base",
  ]);
});

test("the environment of the process is read by the program and by the door; everything below is given it", () => {
  const readers = sources.filter(({ code }) => code.includes("process.env"));
  const files = readers.map(({ file }) => file).filter((file) => !file.endsWith("test-kit.ts"));
  expect(files).toEqual(["src/host/open-engine.ts", "src/cli/main.ts"]);
});

test("the check sees the code it guards", () => {
  expect(imports.length).toBeGreaterThan(20);
  expect(imports).toContainEqual({
    from: "src/core/wire/anthropic-messages/spell-content.ts",
    to: "src/core/hash.ts",
  });
});

test.each<[string, string, string, boolean]>([
  [
    "core may not import an edge",
    "src/core/message/x.ts",
    'import "../../edge/stores/y.ts";',
    true,
  ],
  ["a lazy import counts", "src/core/hash.ts", 'await import("./models/y.ts");', true],
  [
    "a lazy import over two lines counts",
    "src/core/hash.ts",
    "await import(\n  './models/y.ts'\n);",
    true,
  ],
  ["a re-export counts", "src/core/hash.ts", 'export { y } from "./models/y.ts";', true],
  ["the own folder is fine", "src/core/models/x.ts", 'import { y } from "./y.ts";', false],
  ["a host knows no command", "src/host/x.ts", 'import { y } from "../cli/y.ts";', true],
  ["a folder above is fine", "src/cli/x.ts", 'import { y } from "../core/hash.ts";', false],
])("%s", (_name, file, code, isForbidden) => {
  const [found] = findImports(file, code);
  expect(found !== undefined && rank(found.to) > rank(found.from)).toBe(isForbidden);
});

test.each<[string, string, string, boolean]>([
  ["the referee may not share our messages", "src/simulator/x.ts", "../core/message/y.ts", true],
  ["the engine may not import the referee", "src/engine.ts", "./simulator/y.ts", true],
  ["replay bills on the referee", "src/replay/x.ts", "../simulator/y.ts", false],
  ["the referee reads model facts", "src/simulator/x.ts", "../core/models/y.ts", false],
])("%s", (_name, file, target, isForbidden) => {
  const [found] = findImports(file, `import "${target}";`);
  expect(found !== undefined && breaksReferee(found)).toBe(isForbidden);
});

test("a folder without a place in the list is an error", () => {
  expect(() => rank("src/core/utils/x.ts")).toThrow("has no place in the architecture");
});

test("ARCHITECTURE.md names only files that exist", () => {
  const document = readFileSync("ARCHITECTURE.md", "utf8");
  const files = [...document.matchAll(/`([\w./-]+\/[\w.-]+\.ts)`/g)].map((match) => match[1] ?? "");
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((file) => !existsSync(file) && !existsSync(`src/${file}`))).toEqual([]);
});

test("ARCHITECTURE.md prints the same list", () => {
  const document = readFileSync("ARCHITECTURE.md", "utf8");
  const printed = /```text order\n([\s\S]*?)```/.exec(document)?.[1] ?? "";
  expect(printed.split(/[\s,]+/).filter((word) => word !== "")).toEqual(ORDER);
});

describe("the purity lint for core", () => {
  // One offence per file, and the rule that must catch it.
  const offences: Readonly<Record<string, readonly [rule: string, code: string]>> = {
    "node-import": [
      "no-restricted-imports",
      'import { x } from "node:fs";\nexport const y: unknown = x;',
    ],
    date: ["no-restricted-globals", "export const x: number = Date.now();"],
    fetch: ["no-restricted-globals", 'export const x: unknown = fetch("https://example.test");'],
    process: ["no-restricted-globals", "export const x: string = process.version;"],
    console: ["no-restricted-globals", 'console.log("x");\nexport const x = 1;'],
    performance: ["no-restricted-globals", "export const x: number = performance.now();"],
    "set-timeout": ["no-restricted-globals", "export const x: unknown = setTimeout(() => {}, 1);"],
    "set-interval": [
      "no-restricted-globals",
      "export const x: unknown = setInterval(() => {}, 1);",
    ],
    crypto: ["no-restricted-globals", "export const x: string = crypto.randomUUID();"],
    intl: ["no-restricted-globals", "export const x: unknown = new Intl.NumberFormat();"],
    "bare-import": [
      "no-restricted-imports",
      'import { x } from "fs";\nexport const y: unknown = x;',
    ],
    "global-this": ["no-restricted-globals", "export const x: unknown = globalThis.process;"],
    "set-immediate": ["no-restricted-globals", "export const x: unknown = setImmediate(() => {});"],
    "web-socket": ["no-restricted-globals", 'export const x: unknown = new WebSocket("ws://x");'],
    "to-locale": ["no-restricted-properties", "export const x: string = (1).toLocaleString();"],
    "math-random": ["no-restricted-properties", "export const x: number = Math.random();"],
    "locale-compare": [
      "no-restricted-properties",
      'export const x: number = "a".localeCompare("b");',
    ],
    "floating-promise": [
      "no-floating-promises",
      "async function f(): Promise<void> {}\nf();\nexport const x = 1;",
    ],
  };
  let project = "";

  beforeAll(() => {
    project = mkdtempSync(join(tmpdir(), "strata-purity-"));
    for (const file of [".oxlintrc.json", "tsconfig.json"]) copyFileSync(file, join(project, file));
    symlinkSync(resolve("node_modules"), join(project, "node_modules"));
    for (const folder of ["src/core/planted", "src/edge/planted"]) {
      mkdirSync(join(project, folder), { recursive: true });
      for (const [name, [, code]] of Object.entries(offences)) {
        writeFileSync(join(project, folder, `${name}.ts`), code);
      }
    }
  });
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  test("fires on every planted offence, each by its own rule", () => {
    const found = lint(project, "src/core/planted");
    for (const [name, [rule]] of Object.entries(offences)) {
      expect(found).toContain(`src/core/planted/${name}.ts ${rule}`);
    }
  });

  test("leaves clocks, disks and networks to the edges", () => {
    const found = lint(project, "src/edge/planted");
    expect(found.filter((line) => line.includes("no-restricted"))).toEqual([]);
    expect(found).toContain("src/edge/planted/floating-promise.ts no-floating-promises");
  });
});

/** What the linter calls an error, as `file rule`. */
function lint(cwd: string, path: string): string[] {
  const args = ["--type-aware", "--format=json", path];
  // The linter exits with 1 when it finds something.
  const { stdout } = spawnSync("oxlint", args, { cwd, encoding: "utf8" });
  const { diagnostics } = JSON.parse(stdout) as {
    readonly diagnostics: readonly { readonly filename: string; readonly code: string }[];
  };
  return diagnostics.map(
    ({ filename, code }) => `${filename} ${/\((.*)\)/.exec(code)?.[1] ?? code}`,
  );
}

function findImports(file: string, code: string): Import[] {
  return specifiersIn(code)
    .filter((specifier) => specifier.startsWith(".") && specifier.endsWith(".ts"))
    .map((specifier) => ({ from: file, to: normalize(join(dirname(file), specifier)) }));
}

/** Everything a module imports, statically or lazily, in any quotes; comments do not count. */
function specifiersIn(code: string): string[] {
  const bare = code.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  const pattern = /(?:\b(?:import|export)\b[^"'`;]*?\bfrom|\bimport)\s*\(?\s*(["'`])([^"'`\n]+)\1/g;
  return [...bare.matchAll(pattern)].map((match) => match[2] ?? "");
}

function rank(file: string): number {
  const place = ORDER.indexOf(folderOf(file));
  if (place === -1) {
    throw new Error(`${file} has no place in the architecture; add its folder to ORDER`);
  }
  return place;
}

function folderOf(file: string): string {
  const path = file.replace(/^src\//, "").replace(/\.ts$/, "");
  return ORDER.find((folder) => path === folder || path.startsWith(`${folder}/`)) ?? path;
}

function breaksReferee({ from, to }: Import): boolean {
  const [source, target] = [folderOf(from), folderOf(to)];
  if (source === "simulator") return !REFEREE.mayImport.includes(target);
  return target === "simulator" && !REFEREE.importedBy.includes(source);
}
