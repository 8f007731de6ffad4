// Goal: modules form a list, not a knot, and none is a crumb; folders and the glossary stay small. Method: read every import of src, types included.
import { describe, expect, test } from "vitest";
import { checkGlossary } from "../scripts/shape/check-glossary.ts";
import { findCrumbs } from "../scripts/shape/find-crumbs.ts";
import { findCycles } from "../scripts/shape/find-cycles.ts";
import { findFullFolders } from "../scripts/shape/find-full-folders.ts";
import { readSources, toSource } from "../scripts/shape/read-sources.ts";

describe("imports", () => {
  test("have no cycles, types included", () => {
    expect(findCycles(readSources())).toEqual([]);
  });

  test("are seen: lazy ones, re-exports and types", () => {
    const code =
      'import type { A } from "./a.ts";\nexport { b } from "../b.ts";\nawait import("./c/d.ts");\n';
    expect(toSource("src/x/y.ts", code).imports).toEqual([
      "src/x/a.ts",
      "src/b.ts",
      "src/x/c/d.ts",
    ]);
  });

  test("of three modules that go round are a cycle, whatever else they import", () => {
    const round = [
      toSource("src/a.ts", 'import type { B } from "./b.ts";'),
      toSource("src/b.ts", 'import { c } from "./c.ts";\nimport { d } from "./d.ts";'),
      toSource("src/c.ts", 'import type { A } from "./a.ts";'),
      toSource("src/d.ts", ""),
    ];
    expect(findCycles(round)).toEqual([["src/a.ts", "src/b.ts", "src/c.ts"]]);
    expect(findCycles(round.slice(1))).toEqual([]);
  });
});

describe("a small file", () => {
  const small = toSource("src/small.ts", "export const one = 1;\n");
  const user = toSource("src/user.ts", 'import { one } from "./small.ts";\n');
  const other = toSource("src/other.ts", 'import { one } from "./small.ts";\n');
  const none = new Set<string>();

  test("with one importer is a crumb", () => {
    const crumb = { file: "src/small.ts", importer: "src/user.ts" };
    expect(findCrumbs([small, user], none)).toEqual([crumb]);
  });

  test("with two importers, or that the package exports, is none", () => {
    expect(findCrumbs([small, user, other], none)).toEqual([]);
    expect(findCrumbs([small, user], new Set(["src/small.ts"]))).toEqual([]);
  });

  test("that is a crumb is nowhere in src", () => {
    expect(findCrumbs(readSources(), none)).toEqual([]);
  });
});

test("a folder with more than thirty files is named, without those in folders below it", () => {
  const names = Array.from({ length: 31 }, (_, index) => `src/full/file-${index}.ts`);
  expect(findFullFolders([...names, "src/full/below/one.ts"])).toEqual([
    { folder: "src/full", files: 31 },
  ]);
  expect(findFullFolders(names.slice(1))).toEqual([]);
});

describe("the glossary", () => {
  test("has at most sixty rows", () => {
    const rows = Array.from({ length: 61 }, (_, index) => `word${index}x`);
    const found = checkGlossary(rows.map(row).join(""), rows);
    expect(found).toEqual([
      "docs/glossary.md has 61 rows, at most 60: remove words that a newcomer can guess",
    ]);
    expect(checkGlossary(rows.slice(1).map(row).join(""), rows)).toEqual([]);
  });

  test("explains each word once, and only words that code or documents use, however they are spelled", () => {
    const glossary = `${row("Cache plan")}${row("Anchor")}${row("Anchor")}| **Own loop** | with a **tail** | |`;
    expect(checkGlossary(glossary, ["type CachePlan = 1", "own-loop and anchors"])).toEqual([
      'docs/glossary.md explains "Anchor" twice',
      'docs/glossary.md explains "tail", which is used nowhere',
    ]);
    expect(checkGlossary("no table", [])).toEqual(["docs/glossary.md: no row was found"]);
  });
});

function row(word: string): string {
  return `| **${word}** | what it means | |\n`;
}
