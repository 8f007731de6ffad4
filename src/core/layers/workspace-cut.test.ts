import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countBytes } from "./cut-middle.ts";
import { cutText } from "./workspace-cut.ts";

const because = "a workspace document may have 1000 bytes";

describe("cutting a text", () => {
  test("a text within the limit stays as it is", () => {
    expect(cutText("as it is\n", { bytesMax: 9, name: "A.md", because })).toEqual({
      text: "as it is\n",
      bytesLeftOut: 0,
    });
  });

  test("a longer one keeps beginning and end, and a line between them says what is missing", () => {
    const text = `${"a".repeat(1000)}${"m".repeat(8000)}${"z".repeat(1000)}`;
    const cut = cutText(text, { bytesMax: 1000, name: "AGENTS.md", because });
    const [head, line, end] = cut.text.split("\n\n");
    expect(head).toBe("a".repeat(679));
    expect(line).toBe(
      "[9127 of 10000 bytes of AGENTS.md are left out here: a workspace document may have 1000 bytes. Read the file for the rest.]",
    );
    expect(end).toBe("z".repeat(194));
    expect(cut.bytesLeftOut).toBe(9127);
  });

  test("where nothing fits, the line is all", () => {
    expect(cutText("too long", { bytesMax: 4, name: "A.md", because })).toEqual({
      text: "[All 8 bytes of A.md are left out here: a workspace document may have 1000 bytes. Read the file for the rest.]",
      bytesLeftOut: 8,
    });
  });

  test("what was not read has no end to show and is counted", () => {
    const limit = { bytesMax: 1000, name: "A.md", because, bytesUnread: 5000 };
    const { text, bytesLeftOut } = cutText("a".repeat(2000), limit);
    expect(text.endsWith("Read the file for the rest.]")).toBe(true);
    expect(bytesLeftOut).toBe(7000 - text.indexOf("\n\n"));
  });

  test("a line break in a name does not break the line", () => {
    const { text } = cutText("too long", { bytesMax: 4, name: "a\nb.md", because });
    expect(text).toContain("bytes of a?b.md are");
  });

  test("no character is split, no limit is passed, and what is reported as missing is missing", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 300, maxLength: 900 }),
        fc.integer({ min: 200, max: 900 }),
        (text, bytesMax) => {
          const cut = cutText(text, { bytesMax, name: "A.md", because: "of the limit" });
          expect(countBytes(cut.text)).toBeLessThanOrEqual(bytesMax);
          const whole = countBytes(text);
          expect(cut.bytesLeftOut === 0).toBe(whole <= bytesMax);
          if (cut.bytesLeftOut === 0) return;
          const line = `[${cut.bytesLeftOut} of ${whole} bytes of A.md are left out here: of the limit. Read the file for the rest.]`;
          const place = cut.text.indexOf(line);
          const head = cut.text.slice(0, place).replace(/\n\n$/, "");
          const end = cut.text.slice(place + line.length).replace(/^\n\n/, "");
          expect(text.startsWith(head)).toBe(true);
          expect(text.endsWith(end)).toBe(true);
          expect(countBytes(head) + countBytes(end) + cut.bytesLeftOut).toBe(whole);
        },
      ),
    );
  });
});
