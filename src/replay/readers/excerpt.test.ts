import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Block } from "../../core/message/message.ts";
import { toExcerpt } from "./block-draft.ts";

test.each([
  ["Why is\n\tCI   red?", "Why is CI red?"],
  [
    "bell \u0007, escape \u001b[31m, turned \u202e round",
    "bell \\u{7}, escape \\u{1b}[31m, turned \\u{202e} round",
  ],
  ["a".repeat(80), `${"a".repeat(79)}…`],
  ["🙂".repeat(60), `${"🙂".repeat(39)}…`],
  [`${" ".repeat(639)}🙂`, "…"],
  [`${" ".repeat(600)}late ${"x ".repeat(30)}`, `late ${"x ".repeat(17)}x…`],
  ["", "(empty)"],
])("%j is shown as %j", (text, shown) => {
  expect(toExcerpt({ type: "text", text })).toBe(shown);
});

test("a result without content is shown as empty", () => {
  const result: Block = { type: "tool_result", toolUseId: "", content: [], isError: false };
  expect(toExcerpt(result)).toBe("(empty)");
});

test("an excerpt is short, on one line, and whole characters only", () => {
  const unit = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.constant(" ".repeat(300)),
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 5 }), (parts) => {
      const shown = toExcerpt({ type: "text", text: parts.join("") });
      expect(shown.length).toBeLessThanOrEqual(80);
      expect(shown.isWellFormed()).toBe(true);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
});
