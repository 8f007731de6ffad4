import * as fc from "fast-check";
import ranks from "gpt-tokenizer/bpeRanks/o200k_base";
import { countTokens as countCl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { loadCl100k, loadO200k, runCharactersMax } from "./counter.ts";
import { endOfPiece } from "./split.ts";

const counter = await loadO200k();

// Pieces that reach every branch of the rule; random characters alone rarely form a word.
const fragment = fc.oneof(
  fc.constantFrom(
    ..."Hello world|HTTPServer|camelCase|don't|I'LL|we'Ve|'s|''d| the|   |\t\t|\n|\r\n| \n \n|//|/\n/|123|4567890|3.14".split(
      "|",
    ),
    ..."ÉCOLE|É|naïve|ſ|ǅ|ʰʰ|ªº|Ⅷ|½|٣٤|日本語|中文字符|彩票|彩祝|한국어|ไทย|हिन्दी|العربية|Привет|ПРИВЕТ".split(
      "|",
    ),
    ..."😀|👩🏽‍💻|🇩🇪|<|endoftext|>|\u0301|\u0300A|(\u0301b|\u200b|\u00a0|\u2028|\ud800|\udc00|\ud83d|\ufffd|\0".split(
      "|",
    ),
    "<|endoftext|>",
    "<|im_start|>",
    "=".repeat(70),
    "a".repeat(90),
    " ".repeat(130),
    "你好世界".repeat(30),
  ),
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.string({ unit: "grapheme-ascii", maxLength: 30 }),
  fc.string({
    unit: fc.constantFrom("A", "b", "C", "\u0301", "ʰ", "'", "s", " ", "9"),
    maxLength: 20,
  }),
  fc.string({
    unit: fc.constantFrom("彩", "祝", "票", "中", "国", "的", "à", "я", "о", "ক"),
    maxLength: 60,
  }),
);
const text = fc.array(fragment, { maxLength: 12 }).map((parts) => parts.join(""));

test("counts are the library's wherever both read white space the same way", () => {
  fc.assert(
    fc.property(text, (sample) => {
      const common = sample.replace(/[\uFEFF\u0085]/g, "");
      fc.pre(isUncut(common));
      const unguarded = countTokens(common, { disallowedSpecial: new Set() });
      expect(counter.count(common)).toBe(unguarded);
    }),
    { numRuns: 2000 },
  );
});

test("counts of cl100k are the library's, too (N-30)", async () => {
  const older = await loadCl100k();
  expect(older.count("Hello world, don't panic: 12345 naïve 日本語\n\n  done")).toBe(19);
  fc.assert(
    fc.property(text, (sample) => {
      const common = sample.replace(/[\uFEFF\u0085]/g, "");
      fc.pre(isUncut(common));
      expect(older.count(common)).toBe(countCl100k(common, { disallowedSpecial: new Set() }));
    }),
    { numRuns: 1000 },
  );
});

// Goal: also correct where the library is not (U+FEFF, U+0085). Method: the published rule with
// Unicode's white space, and merging in its plainest form.
test("counts are those of the published rule with Unicode's white space", () => {
  const marked = fc
    .array(fc.oneof(fragment, fc.constantFrom("\uFEFF", "\uFEFF\uFEFF", "\u0085", " \uFEFF")), {
      maxLength: 8,
    })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(marked, (sample) => {
      fc.pre(isUncut(sample));
      expect(piecesOf(sample)).toEqual(sample.match(publishedRule) ?? []);
      expect(counter.count(sample)).toBe(countPlainly(sample));
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ["", 0],
  ["Hello, world!", 4],
  ["don't stop", 2],
  ["1234567", 3],
  ["你好世界", 2],
  ["\uFEFFimport x", 3],
  ["\uFEFF\uFEFF", 1],
  ["<|endoftext|>", 7],
])("%j takes %i tokens", (sample, tokens) => {
  expect(counter.count(sample)).toBe(tokens);
});

test("special tokens in a user's text are text", () => {
  expect(counter.count("<|endoftext|><|im_start|>")).toBeGreaterThan(2);
});

test("a megabyte without a break is counted, in parts of at most 512 characters", () => {
  expect(counter.count("a".repeat(1_000_000))).toBe(125_000);
  expect(counter.count(" ".repeat(1_000_000))).toBe(7_813);
});

test("a run is never cut inside a character", () => {
  const run = `x${"😀".repeat(600)}`.slice(1);
  expect(counter.count(run)).toBe(countTokens("😀") * 600);
});

const publishedRule = new RegExp(
  [
    String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:'(?:[sdmtSDMT]|[lL][lL]|[vV][eE]|[rR][eE]))?`,
    String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:'(?:[sdmtSDMT]|[lL][lL]|[vV][eE]|[rR][eE]))?`,
    String.raw`\p{N}{1,3}`,
    String.raw` ?[^\p{White_Space}\p{L}\p{N}]+[\r\n/]*`,
    String.raw`\p{White_Space}*[\r\n]+`,
    String.raw`\p{White_Space}+(?!\P{White_Space})`,
    String.raw`\p{White_Space}+`,
  ].join("|"),
  "gu",
);

/** The bytes of each token, as text with one character per byte, mapped to its rank. */
const rankOfBytes = new Map(
  ranks.map((token, rank) => [
    (typeof token === "string" ? Buffer.from(token) : Buffer.from(token)).toString("latin1"),
    rank,
  ]),
);

function piecesOf(sample: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < sample.length;) {
    const end = endOfPiece(sample, start);
    pieces.push(sample.slice(start, end));
    start = end;
  }
  return pieces;
}

function isUncut(sample: string): boolean {
  return piecesOf(sample).every((piece) => piece.length <= runCharactersMax);
}

function countPlainly(sample: string): number {
  let tokens = 0;
  for (const piece of sample.match(publishedRule) ?? []) {
    const bytes = Buffer.from(piece).toString("latin1");
    tokens += rankOfBytes.has(bytes) ? 1 : mergePlainly(bytes);
  }
  return tokens;
}

function mergePlainly(bytes: string): number {
  const parts = bytes.split("");
  for (;;) {
    let lowest = Infinity;
    let place = -1;
    for (let at = 0; at + 1 < parts.length; at += 1) {
      const rank = rankOfBytes.get(`${parts[at]}${parts[at + 1]}`) ?? Infinity;
      if (rank < lowest) [lowest, place] = [rank, at];
    }
    if (place === -1) return parts.length;
    parts.splice(place, 2, `${parts[place]}${parts[place + 1]}`);
  }
}
