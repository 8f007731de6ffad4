import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../../message/message.ts";
import { cutResult, shareTokens } from "./cut-result.ts";
import { byHistoryRead } from "./recall-hint.ts";
import { toResult } from "./test-kit.ts";

/** One token per four characters, and one for each character that is not a letter. */
function countMessage({ content }: Message): number {
  const text = JSON.stringify(content);
  return Math.ceil(text.length / 4) + text.replaceAll(/[a-z]/g, "").length;
}

const limit = { tokensMax: 1_000, countMessage, recallHint: byHistoryRead };
const lines = Array.from({ length: 2_000 }, (_, at) => `line ${at}`).join("\n");

test("a result that fits stays as it is", () => {
  expect(cutResult(toResult("use-1", "short"), limit)).toBeNull();
});

test("a result that does not keeps its beginning and end, and says what is missing and how to get it", () => {
  const cut = cutResult(toResult("use-1", lines), limit);
  expect(cut?.tokens).toBeLessThanOrEqual(1_000);
  const [block] = cut?.message.content ?? [];
  const text = JSON.stringify(block);
  expect(text).toContain("line 0\\nline 1\\n");
  expect(text).toContain("line 1999");
  expect(text).toMatch(
    /\[\d+ of 18889 bytes are left out here, lines \d+ to \d+: too much for the context; history_read with tool_use_id \\"use-1\\" shows it whole\]/,
  );
  expect(cut?.results).toMatchObject([{ toolUseId: "use-1", wholeText: lines }]);
});

test("what was cut once is not cut again, whatever it holds", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 20_000, size: "max" }), (text) => {
      const cut = cutResult(toResult("use-1", text), limit);
      if (cut === null) return;
      expect(cut.tokens).toBeLessThanOrEqual(1_000);
      expect(cutResult(cut.message, limit)).toBeNull();
    }),
    { numRuns: 50 },
  );
});

test("what is not text stays, and messages without results are not cut", () => {
  const image = { type: "image", source: { kind: "file", fileId: "f" } } as const;
  const result: Message = {
    role: "tool",
    content: [
      {
        type: "tool_result",
        toolUseId: "use-1",
        content: [image, { type: "text", text: lines }],
        isError: true,
      },
    ],
  };
  const [block] = cutResult(result, limit)?.message.content ?? [];
  expect(block).toMatchObject({ isError: true, content: [image, { type: "text" }] });
  const said: Message = { role: "user", content: [{ type: "text", text: lines }] };
  expect(cutResult(said, limit)).toBeNull();
});

test.each<[string, readonly number[], number]>([
  ["all fit", [100, 200, 300], 1_000],
  ["one is too large by itself", [100, 5_000], 1_000],
  [
    "together they are too many: the largest share what the others leave",
    [100, 900, 950, 990],
    633,
  ],
  ["of equal ones each has its part", [900, 900, 900, 900], 500],
])("results of one reply, %s", (_name, tokens, most) => {
  expect(shareTokens(tokens, { oneMax: 1_000, allMax: 2_000 })).toBe(most);
});
