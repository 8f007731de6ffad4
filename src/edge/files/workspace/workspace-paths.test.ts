import { expect, test } from "vitest";
import { concerns, foldersOf, isPrivate, toExtras, toScope } from "./workspace-paths.ts";

test("N-40: extras are trimmed, sorted and taken once; what lies outside stays as it was given", () => {
  expect(
    toExtras("/w", [" b.md", "a/../b.md", "/w/docs/a.md", "../x.md", "/etc/x.md", "", "..a.md"]),
  ).toEqual(["../x.md", "..a.md", "/etc/x.md", "b.md", "docs/a.md"]);
});

test("C-16: private is MEMORY.md wherever it is, and all that is kept beside it", () => {
  const paths = [
    "MEMORY.md",
    "sub/memory.MD",
    "MEMORY.md. ",
    ".metis/USER.md",
    ".Strata/log",
    "sub/.strata./log",
    ".\u017ftrata/log",
    "/elsewhere/.strata/log",
  ];
  expect(paths.filter((path) => !isPrivate(path))).toEqual([]);
  expect(
    ["USER.md", "docs/MEMORY.md/x.md", "my-MEMORY.md", "strata/log"].filter(isPrivate),
  ).toEqual([]);
});

test("everything but main is shared, as whatever it is asked for", () => {
  expect(["main", "shared", "group", "Main", "", undefined].map(toScope)).toEqual([
    "main",
    "shared",
    "shared",
    "shared",
    "shared",
    "shared",
  ]);
});

test("a document's folders are listed from the root down", () => {
  expect(foldersOf("a/b/x.md")).toEqual(["", "a", "a/b"]);
  expect(foldersOf("x.md")).toEqual([""]);
});

test("a change concerns a bundle by its ending, as one of its documents, or as a folder on the way to one", () => {
  const extras = ["docs/api.txt"];
  const seen = [null, "x/y.MD", "docs/api.txt", "docs", ".strata", ".metis"];
  expect(seen.filter((path) => !concerns(path, extras))).toEqual([]);
  const other = ["docs/other.txt", "doc", "src", "a.mdx", ".strata/skills"];
  expect(other.filter((path) => concerns(path, extras))).toEqual([]);
});
