// Goal: modules form a list, not a knot, and none is a crumb. Method: read every import of src, types included.
import { describe, expect, test } from "vitest";
import { findCrumbs } from "../scripts/shape/find-crumbs.ts";
import { findCycles } from "../scripts/shape/find-cycles.ts";
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
