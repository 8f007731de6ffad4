import { describe, expect, test } from "vitest";
import type { Message } from "../message/message.ts";
import { rankHistory, rarityOf } from "./rank-history.ts";
import type { Ranking } from "./pick-varied.ts";
import { readQuery } from "./rank-history.ts";
import { toSearchableText } from "./searchable-text.ts";
import { codeOf, codesOf } from "./term-codes.ts";
import { termsOf } from "./terms.ts";

describe("ranking", () => {
  test("the message with more and rarer words of the query comes first", () => {
    expect(
      rank("parser fails on comments", ["the parser", "comments fail the parser", "lunch"]),
    ).toEqual(["comments fail the parser", "the parser"]);
  });

  test("the query word by word is better than its words apart", () => {
    const apart = "the retry limit and the other limit of a retry, retry limit retry";
    expect(rank("limit retry", [apart, "set limit retry here"])[0]).toBe(apart);
    expect(rank("max-retry.limit", [apart, "set max-retry.limit here"])[0]).toBe(
      "set max-retry.limit here",
    );
  });

  test("of the same, the later one comes first", () => {
    const [first] = ranked("needle", ["a needle here", "a needle there"]);
    expect(first?.candidate.position).toBe(1);
  });

  test("words that stand together are better than words far apart", () => {
    const apart = `alpha ${"filler ".repeat(500)} beta`;
    const together = `${"filler ".repeat(250)} alpha beta ${"filler ".repeat(250)}`;
    expect(rank("alpha beta gamma delta", [apart, together])[0]).toBe(together);
  });

  test("the passage is where the words are, and no longer than asked for", () => {
    const text = `${"filler line\n".repeat(500)}the needle is here\n${"filler line\n".repeat(500)}`;
    const [hit] = ranked("needle", [text]);
    const passage = text.slice(hit?.from, hit?.to);
    expect(passage).toContain("the needle is here");
    expect(passage.length).toBeLessThanOrEqual(200);
    expect(passage.startsWith("filler line\n")).toBe(true);
  });

  test("a phrase at the very end of a long text is shown whole", () => {
    const text = `${"x ".repeat(5000)}needle-42`;
    const [hit] = ranked("needle-42", [text]);
    expect(text.slice(hit?.from, hit?.to).endsWith("needle-42")).toBe(true);
  });

  test("the same lines again are one result, and the rest of the places go to others", () => {
    const lines = Array.from({ length: 8 }, (_, n) => `const needle${n} = ${n};`);
    const plain = lines.join("\n");
    const numbered = lines.map((line, n) => `${n + 1}\t${line}`).join("\n");
    const found = ranked("needle0 needle1 other", [plain, numbered, "the other needle1"], 2);
    const positions = found.map(({ candidate }) => candidate.position);
    expect(positions.filter((position) => position < 2)).toHaveLength(1);
    expect(positions).toContain(2);
    expect(ranked("needle0 needle1", [plain, numbered], 2)).toHaveLength(2);
  });

  test("what says something new comes before the same words once more", () => {
    const same = ["alpha beta one", "alpha beta two", "alpha beta three"];
    expect(rank("alpha beta gamma", [...same, "only gamma"], 2)).toEqual([
      "alpha beta three",
      "only gamma",
    ]);
  });

  test("rarity is never below zero, also where counts do not fit", () => {
    expect(rarityOf(0, 10)).toBeCloseTo(3.09, 2);
    expect(rarityOf(10, 10)).toBeCloseTo(0.047, 3);
    expect(rarityOf(12, 10)).toBeGreaterThan(0);
  });
});

describe("a query", () => {
  test("is its terms, and itself where it is short", () => {
    expect(readQuery("  fooBar() ")).toEqual({
      terms: ["foobar", "foo", "bar"],
      phrase: "fooBar()",
    });
    expect(readQuery("?!")).toEqual({ terms: [], phrase: null });
    expect(readQuery("word ".repeat(100)).phrase).toBeNull();
  });

  test("of very many words is its longest ones", () => {
    const words = Array.from({ length: 1000 }, (_, n) => "x".repeat(1 + (n % 9)) + n);
    expect(readQuery(words.join(" ")).terms).toHaveLength(200);
  });
});

describe("codes", () => {
  test("are words to every query language", () => {
    for (const term of ["a", "NEAR(", "'; DROP", "src/a.ts", "全文", "\u0000", "x".repeat(1000)]) {
      expect(codeOf(term, 113_003_562_058_176)).toMatch(/^t[0-9a-z]{1,7}$/);
    }
  });

  test("of a hundred thousand terms hardly two are the same", () => {
    const codes = new Set(Array.from({ length: 100_000 }, (_, n) => codeOf(`term${n}`, 7)));
    expect(codes.size).toBeGreaterThan(99_990);
  });

  test("differ with their salt, also with the high half of a large one", () => {
    const salts = [0, 1, 2, 113_003_562_058_176, 113_003_562_058_177, 113_007_857_025_472];
    expect(new Set(salts.map((salt) => codeOf("needle", salt))).size).toBe(salts.length);
  });

  test("of a text come each once, in parts that an index can take", () => {
    expect(codesOf("a b a", 7, 10)).toEqual([[codeOf("a", 7), codeOf("b", 7)]]);
    expect(codesOf("a b c", 7, 2).map((part) => part.length)).toEqual([2, 1]);
    expect(codesOf("", 7, 2)).toEqual([[]]);
  });
});

describe("the text of a message", () => {
  test("is the words, questions and answers, without thoughts, escapes and quotes", () => {
    const message: Message = {
      role: "assistant",
      content: [
        { type: "thinking", text: "hm" },
        { type: "text", text: "I look." },
        {
          type: "tool_use",
          id: "u",
          name: "grep",
          inputJson: '{"pattern":"a\\nb\\u00e4","max":12345678901234567890,"in":["x","y"]}',
        },
      ],
    };
    expect(toSearchableText(message, null)).toBe(
      "I look.\ngrep {pattern: a\nbä, max: 12345678901234567890, in: [x, y]}",
    );
  });

  test("is the whole result where the message has only a part of it", () => {
    const content = [{ type: "text" as const, text: "a part…" }];
    const message: Message = {
      role: "tool",
      content: [{ type: "tool_result", toolUseId: "u", content, isError: false }],
    };
    expect(toSearchableText(message, null)).toBe("a part…");
    expect(toSearchableText(message, "all of it")).toBe("all of it");
  });

  test("is there for input that is no JSON", () => {
    const inputJson = '{"a":"cut off';
    const content = [{ type: "tool_use" as const, id: "u", name: "run", inputJson }];
    expect(toSearchableText({ role: "assistant", content }, null)).toBe('run {a: "cut off');
  });
});

function ranked(query: string, texts: readonly string[], limit = 5): ReturnType<typeof rankAll> {
  return rankAll(query, texts, limit);
}

function rank(query: string, texts: readonly string[], limit = 5): readonly string[] {
  return rankAll(query, texts, limit).map(({ candidate }) => candidate.text);
}

function rankAll(
  query: string,
  texts: readonly string[],
  limit: number,
): ReturnType<typeof rankHistory> {
  const { terms, phrase } = readQuery(query);
  const known = texts.map((text) => termsOf(text));
  const weights = new Map(
    terms.map((term) => [term, rarityOf(known.filter((each) => each.has(term)).length, 100)]),
  );
  const ranking: Ranking = {
    weights,
    phrase,
    messageCount: texts.length,
    passageCharacters: 200,
    limit,
  };
  return rankHistory(
    texts.map((text, position) => ({ text, position })),
    ranking,
  );
}
