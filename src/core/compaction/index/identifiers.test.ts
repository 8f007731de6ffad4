import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { extractIdentifiers, identifiersOf } from "./identifiers.ts";

describe("identifiers in a text", () => {
  test("are found with their kinds, in order", () => {
    const text = `Edit src/core/hash.ts and package.json: readFile() uses MAX_BYTES and fs.promises.
      See https://example.org/a?b=c#d (v1.2.3), localhost:8080, --dry-run, ENOENT, TS2366 and 250ms.
      Ticket ABC-12, pull request #345, commit 9f8e7d6c5b, branch fix/login-form of @scope/tool.`;
    expect(Array.from(extractIdentifiers(text), ({ text: found, kind }) => [found, kind])).toEqual([
      ["src/core/hash.ts", "path"],
      ["package.json", "file"],
      ["readFile", "symbol"],
      ["MAX_BYTES", "constant"],
      ["fs.promises", "dotted"],
      ["https://example.org/a?b=c#d", "url"],
      ["v1.2.3", "version"],
      ["localhost:8080", "host"],
      ["--dry-run", "flag"],
      ["ENOENT", "code"],
      ["TS2366", "code"],
      ["250ms", "quantity"],
      ["ABC-12", "id"],
      ["#345", "id"],
      ["9f8e7d6c5b", "id"],
      ["fix/login-form", "name"],
      ["@scope/tool", "name"],
    ]);
  });

  test("are told apart from the places, signs and line ends around them", () => {
    expect([...identifiersOf("src/a.ts:12:5 src/b.go-18- KEY_ONE=src/c.ts, `./d.sh`.")]).toEqual([
      "src/a.ts",
      "src/b.go",
      "KEY_ONE",
      "src/c.ts",
      "./d.sh",
    ]);
    expect([...identifiersOf(String.raw`{"a":"first\nreadLine\tendOfLine"}`)]).toEqual([
      "readLine",
      "endOfLine",
    ]);
    expect([...identifiersOf(String.raw`open C:\Users\new\notes.txt now`)]).toEqual([
      String.raw`C:\Users\new\notes.txt`,
    ]);
  });

  test("are not members without their owner, ends of elements, or points of a drawing", () => {
    expect([
      ...identifiersOf("list().map(one) a?.nextName </section> .gitignore 4.013c.539"),
    ]).toEqual([".gitignore"]);
    expect([...identifiersOf("a colour #2E3440 of v1.2.3-rc.1")]).toEqual([
      "#2E3440",
      "v1.2.3-rc.1",
    ]);
  });

  test("are not in prose, plain numbers or dates", () => {
    const prose =
      "On 2026-11-16 at 10:30 the Agent read 1234 lines. Done. Next, I go on... 3.14 (e.g. so).";
    expect([...identifiersOf(prose)]).toEqual([]);
  });

  test("keep letters of other alphabets, and end where a script without spaces begins", () => {
    expect([...identifiersOf("größe_max 在src/foo.ts中")]).toEqual(["größe_max", "src/foo.ts"]);
  });
});

// Each is one megabyte that makes careless patterns slow. A quadratic scan would take minutes.
const hostile = [
  "a",
  "/",
  "-",
  ".",
  ":",
  "@",
  "#",
  "\\",
  "_",
  "=",
  "aA",
  "a/",
  "a.",
  "://",
  "a://",
  "C:\\",
  "--",
  "1.",
  "ä",
];

test("one megabyte of any single pattern is scanned at once", { timeout: 20_000 }, () => {
  for (const pattern of hostile) {
    const text = pattern.repeat(1_000_000 / pattern.length);
    expect(Array.from(extractIdentifiers(text)).length).toBeLessThan(10);
  }
});

test("whatever the text is, each identifier stands in it and has no white space", () => {
  const words = fc.constantFrom(
    "a.b",
    "/",
    "x_y",
    "://",
    "--f",
    "\\n",
    ":80",
    "é",
    "#1",
    "@",
    " ",
    "\n",
    "…",
    "v1.2.3",
  );
  const texts = fc.oneof(
    fc.string(),
    fc.array(words).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      for (const identifier of identifiersOf(text)) {
        expect(text).toContain(identifier);
        expect(identifier).not.toMatch(/\s/u);
      }
    }),
  );
});
