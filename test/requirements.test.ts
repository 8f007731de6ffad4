// Goal: docs/requirements.md tells the truth. Method: read the table, look every file and every test title up, and plant
// rows that are wrong.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  checkRequirements,
  readRequirements,
  requirementsPath,
} from "../scripts/requirements/check-table.ts";
import { lookIn } from "../scripts/requirements/look-in.ts";

const root = join(import.meta.dirname, "..");
const document = readFileSync(join(root, requirementsPath), "utf8");

const done = '| M-01 | Adds | `src/a.ts` | `test/a.test.ts` "adds %s" |';
const inPart =
  '| M-02 | Adds more | `src` | in part: one is missing. `test/a.test.ts` "knows ${name}" |';
const withoutTest = "| M-03 | Aims | `docs/a.md` | without a test: nothing runs. |";

const planted: Readonly<Record<string, string>> = {
  "src/a.ts": "",
  src: "",
  "docs/a.md": "",
  "test/a.test.ts": 'test.each([])("adds %s", run);\ntest(`knows ${name}`, run);',
};

describe("docs/requirements.md", () => {
  test("names only files and tests that are there, in rows of one shape", () => {
    expect(checkRequirements(document, lookIn(root))).toEqual([]);
  });

  test("has a row for every requirement, every decision, every known mistake and every group of tests", () => {
    const expected = [
      ...numbered("M", [1, 5], [10, 18], [20, 26], [30, 42], [50, 54]),
      ...numbered("S", [1, 17]),
      ...numbered("D", [1, 14]),
      ...numbered("N", [1, 6], [10, 18], [20, 33], [40, 44]),
      ...numbered("H", [1, 14]),
      ...numbered("X", [1, 8], [10, 16], [20, 23], [30, 38]),
      ...Array.from({ length: 17 }, (_, index) => `C-${index + 1}`),
      ...numbered("B", [1, 11]),
      ..."ABCDEFGHIJ".split("").map((letter) => `CF-${letter}`),
    ];
    expect(readRequirements(document).rows.map(({ id }) => id)).toEqual(expected);
  });
});

describe("the check of the table", () => {
  test("is content with true rows of every kind", () => {
    expect(
      problemsOf(done, inPart, withoutTest, "| M-04 | Never | — | not done: nobody asked. |"),
    ).toEqual([]);
  });

  test.each([
    [
      "a file that is gone",
      done.replace("`src/a.ts`", "`src/gone.ts`"),
      "M-01 names src/gone.ts which does not exist",
    ],
    [
      "a test file that is gone",
      done.replace("a.test.ts", "gone.test.ts"),
      "M-01 names test/gone.test.ts which does not exist",
    ],
    [
      "a title that is not in the test file",
      done.replace("adds %s", "subtracts"),
      'M-01 names test "subtracts" which is not in test/a.test.ts',
    ],
    [
      "a title of which the test file has only a part",
      done.replace("adds %s", "adds"),
      'M-01 names test "adds" which is not in test/a.test.ts',
    ],
    ["a done row without a test", "| M-01 | Adds | `src/a.ts` | — |", "M-01 names no test"],
    ["a row without a file", done.replace("`src/a.ts`", "—"), "M-01 names no file"],
    [
      "a part that is missing without a word on it",
      inPart.replace("one is missing.", ""),
      "M-02 is in part and does not say why",
    ],
    ["a row of three cells", "| M-01 | Adds | `src/a.ts` |", "line 5 is no row of four cells"],
    ["an id of another group", done.replace("M-01", "N-01"), "N-01 does not belong below"],
  ])("reports %s", (_name, row, problem) => {
    expect(problemsOf(row).join("\n")).toContain(`docs/requirements.md: ${problem}`);
  });

  test("reports an id that is there twice, and one that comes too late", () => {
    expect(problemsOf(inPart, inPart)).toEqual(["docs/requirements.md: M-02 is there twice"]);
    expect(problemsOf(inPart, done)).toEqual(["docs/requirements.md: M-01 comes after M-02"]);
  });
});

function problemsOf(...rows: readonly string[]): readonly string[] {
  const head = [
    "## M: planted",
    "",
    "| id | asks | lives in | proved by |",
    "| -- | -- | -- | -- |",
  ];
  return checkRequirements([...head, ...rows].join("\n"), (path) => planted[path] ?? null);
}

/** `M-01` and so on, both ends included. */
function numbered(group: string, ...ranges: readonly (readonly [number, number])[]): string[] {
  return ranges.flatMap(([first, last]) =>
    Array.from(
      { length: last - first + 1 },
      (_, index) => `${group}-${String(first + index).padStart(2, "0")}`,
    ),
  );
}
