// Goal: SECURITY.md promises only what a test shows. Method: read its tables, look every test up, and plant rows that are wrong.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  checkPromises,
  readPromises,
  securityPath,
} from "../scripts/requirements/check-promises.ts";
import { lookIn } from "../scripts/requirements/look-in.ts";

const root = join(import.meta.dirname, "..");
const document = readFileSync(join(root, securityPath), "utf8");

describe("SECURITY.md", () => {
  test("names a test for every promise, and the test is there", () => {
    expect(checkPromises(document, lookIn(root))).toEqual([]);
  });

  test.each([
    "an agent",
    "a workspace",
    "an imported file",
    "a provider",
    "a local user",
    "the network",
  ])("promises something against %s", (party) => {
    const section = document.split(/^### /m).find((part) => part.toLowerCase().startsWith(party));
    expect(readPromises(`## What is promised\n${section}`).length).toBeGreaterThan(0);
  });

  test("says what is not promised", () => {
    expect(document).toMatch(/^## What is not promised\n\n- .*bash/m);
  });
});

const look = (path: string): string | null => (path === "a.test.ts" ? 'test("holds", run);' : null);

describe("the check of promises", () => {
  test.each([
    ["a promise without a test", "| Keys stay | - |", "names no test"],
    [
      "a file that is gone",
      '| Keys stay | `b.test.ts` "holds" |',
      "names b.test.ts which does not exist",
    ],
    [
      "a title that is gone",
      '| Keys stay | `a.test.ts` "held" |',
      'names test "held" which is not in a.test.ts',
    ],
  ])("reports %s", (_name, row, problem) => {
    expect(problemsOf(row)).toEqual([`SECURITY.md: "Keys stay" ${problem}`]);
  });

  test("accepts a promise whose test is there, and reads no other tables", () => {
    expect(problemsOf('| Keys stay | `a.test.ts` "holds" |')).toEqual([]);
    expect(checkPromises("## Other\n\n| a | b |", look)).toEqual([]);
  });
});

function problemsOf(row: string): readonly string[] {
  const head = "## What is promised\n\n| promise | shown by |\n| --- | --- |\n";
  return checkPromises(head + row, look);
}
