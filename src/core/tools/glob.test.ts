import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchesGlob, readGlob } from "./glob.ts";

function matches(pattern: string, path: string): boolean {
  const { glob, problem } = readGlob(pattern);
  if (glob === null) throw new Error(problem);
  return matchesGlob(glob, path);
}

describe("file name patterns", () => {
  test.each([
    ["*.ts", "a.ts", true],
    ["*.ts", "src/a.ts", false],
    ["**/*.ts", "a.ts", true],
    ["**/*.ts", "src/deep/a.ts", true],
    ["src/**", "src/a/b", true],
    ["src/**/b", "src/b", true],
    ["src/**/b", "src/x/y/b", true],
    ["src/**/b", "src/x/y/c", false],
    ["**/a/**/b", "x/a/y/a/b", true],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["a?c", "a😀c", true],
    ["[a-c]x", "bx", true],
    ["[!a-c]x", "bx", false],
    ["[]x", "[]x", true],
    ["{a,b}.{js,ts}", "b.ts", true],
    ["{a,b}.{js,ts}", "c.ts", false],
    ["{a,{b,c}}", "c", true],
    ["{a}", "{a}", true],
    ["\\*", "*", true],
    ["\\*", "a", false],
    ["*a*b*c", "xxaxxbxxc", true],
    ["*a*b*c", "xxaxxbxx", false],
    [".*", ".env", true],
    ["./a//b", "a/b", true],
  ])("%s and %s: %s", (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  test("patterns that lead outside or stand for too many are refused", () => {
    expect(readGlob("../x").problem).toBe("leads outside the folder");
    expect(readGlob("/etc/*").problem).toBe("leads outside the folder");
    expect(readGlob("{a,..}/x").problem).toBe("leads outside the folder");
    expect(readGlob("{a,b}".repeat(10)).problem).toBe("stands for more than 64 patterns");
    expect(readGlob("a".repeat(1001)).problem).toBe("is longer than 1000 characters");
  });

  test("a pattern of many stars is decided in linear time", () => {
    expect(matches(`${"*a".repeat(100)}b`, "a".repeat(255))).toBe(false);
    expect(matches(`${"**/*a*/".repeat(50)}b`, "a/".repeat(300))).toBe(false);
  });

  test("a path without special characters matches itself and nothing else", () => {
    const name = fc.stringMatching(/^[a-z.]{1,8}$/).filter((each) => !/^\.+$/.test(each));
    const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => names.join("/"));
    fc.assert(
      fc.property(path, path, (left, right) => {
        expect(matches(left, left)).toBe(true);
        expect(matches(left, right)).toBe(left === right);
        expect(matches("**", left)).toBe(true);
      }),
    );
  });
});
