import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { operatingContext } from "./operating-context.ts";
import {
  breakEvenCalls,
  planPadding,
  toPaddingSection,
  type PaddingRequest,
  type PaddingSkill,
} from "./padding.ts";
import { toSkillIndex } from "./skill-index.ts";

const countText = (text: string): number => Math.ceil(text.length / 4);

const base: PaddingRequest = {
  mode: "always",
  floorTokens: 4096,
  naturalTokens: 265,
  skills: [],
  countText,
  expectedCalls: 20,
  readMultiplier: 0.1,
  writeMultiplier: 1.25,
};

/** A body whose whole text, with separator and heading, has this many tokens. */
function skillOf(name: string, tokens: number): PaddingSkill {
  const heading = `\n\n# Skill: ${name}\n\n`;
  return { name, body: "x".repeat(tokens * 4 - heading.length) };
}

describe("padding in every session, as seed 000 has it", () => {
  test("a prefix at the minimum is left alone, however long a custom prompt makes it (M-23)", () => {
    for (const naturalTokens of [4500, 5500, 90_000]) {
      const plan = planPadding({ ...base, naturalTokens, skills: [skillOf("a", 100)] });
      expect(plan).toEqual({
        texts: [],
        preactivated: [],
        tokens: 0,
        reason: `no padding: ${naturalTokens} tokens reach the minimum of 4500`,
      });
    }
  });

  test("a short prefix without skills is padded from the operating context until it reaches 4,500 (M-20)", () => {
    const plan = planPadding(base);
    const total = 265 + plan.tokens;
    const last = countText(`\n\n${plan.texts.at(-1)}`);
    expect(total).toBeGreaterThanOrEqual(4500);
    expect(total - last).toBeLessThan(4500);
    expect(plan.texts).toEqual(operatingContext.slice(0, plan.texts.length));
    expect(plan.preactivated).toEqual([]);
    expect(plan.reason).toBe(
      `padded from 265 to ${total} tokens (minimum 4500) with 0 skills and ${plan.texts.length} paragraphs`,
    );
  });

  test("even a prefix of nothing is padded to the minimum", () => {
    expect(planPadding({ ...base, naturalTokens: 0 }).tokens).toBeGreaterThanOrEqual(4500);
  });

  test("skills come before the operating context, by name, each under its heading", () => {
    const { texts, preactivated } = planPadding({
      ...base,
      skills: [
        { name: "pdf", body: "Read the file.\n" },
        { name: "archive", body: "Pack it." },
      ],
    });
    expect(texts.slice(0, 3)).toEqual([
      "# Skill: archive\n\nPack it.",
      "# Skill: pdf\n\nRead the file.",
      operatingContext[0],
    ]);
    expect(preactivated).toEqual(["archive", "pdf"]);
  });

  test("no more skills are taken than the minimum needs", () => {
    const skills = [skillOf("a", 3000), skillOf("b", 2000), skillOf("c", 10)];
    const plan = planPadding({ ...base, skills });
    expect(plan.preactivated).toEqual(["a", "b"]);
    // 3,000 and 2,000 for the texts, 3 for each mark in the index.
    expect(plan.tokens).toBe(5006);
    expect(plan.reason).toBe(
      "padded from 265 to 5271 tokens (minimum 4500) with 2 skills and 0 paragraphs",
    );
  });

  test("a body that would pass the maximum is passed over, never cut, and is said (B-06)", () => {
    const skills = [skillOf("a", 3000), skillOf("b", 2230), skillOf("c", 2229)];
    const plan = planPadding({ ...base, skills });
    expect(plan.preactivated).toEqual(["a", "c"]);
    expect(265 + plan.tokens).toBe(5500);
    expect(plan.texts[1]).toBe(`# Skill: c\n\n${skills[2]?.body}`);
    expect(plan.reason).toBe(
      "padded from 265 to 5500 tokens (minimum 4500) with 2 skills and 0 paragraphs; too long to fit: b",
    );
  });

  test("a skill without a body is not taken for preloaded", () => {
    expect(planPadding({ ...base, skills: [{ name: "a", body: " \n" }] }).preactivated).toEqual([]);
  });

  test("what was preactivated is marked in the index", () => {
    const { preactivated } = planPadding({ ...base, skills: [skillOf("a", 100)] });
    expect(toSkillIndex([{ name: "a", description: "A." }], preactivated)).toMatch(
      /^- a \[preloaded\]: A\.$/m,
    );
  });

  test("bounds can be given, and what cannot be reached is still padded", () => {
    const bounds = { tokensMin: 300, tokensMax: 310 };
    const plan = planPadding({ ...base, bounds, skills: [skillOf("a", 42), skillOf("b", 43)] });
    expect(plan.preactivated).toEqual(["a"]);
    const beyond = planPadding({ ...base, bounds: { tokensMin: 90_000, tokensMax: 91_000 } });
    expect(beyond.texts).toEqual(operatingContext);
  });
});

describe("padding where it pays (C-9)", () => {
  const auto: PaddingRequest = { ...base, mode: "auto", naturalTokens: 2000 };

  test.each([
    { naturalTokens: 1000, calls: "9.8" },
    { naturalTokens: 1500, calls: "5.1" },
    { naturalTokens: 2000, calls: "3.4" },
    { naturalTokens: 3000, calls: "2.1" },
  ])(
    "$naturalTokens tokens padded to 4,600 pay from $calls calls on",
    ({ naturalTokens, calls }) => {
      const padded = { paddedTokens: 4600, readMultiplier: 0.1, writeMultiplier: 1.25 };
      expect(breakEvenCalls({ ...padded, naturalTokens })?.toFixed(1)).toBe(calls);
    },
  );

  test("265 tokens padded to 4,600 never pay", () => {
    const padded = { paddedTokens: 4600, readMultiplier: 0.1, writeMultiplier: 1.25 };
    expect(breakEvenCalls({ ...padded, naturalTokens: 265 })).toBeNull();
    expect(breakEvenCalls({ ...padded, naturalTokens: 460 })).toBeNull();
  });

  test("the break-even is where both ways cost the same, at any prices", () => {
    const price = fc.double({ min: 0.01, max: 3, noNaN: true });
    const tokens = fc.integer({ min: 1, max: 10_000 });
    fc.assert(
      fc.property(tokens, tokens, price, price, (naturalTokens, paddedTokens, read, write) => {
        const sizes = { naturalTokens, paddedTokens };
        const calls = breakEvenCalls({ ...sizes, readMultiplier: read, writeMultiplier: write });
        fc.pre(calls !== null);
        const cached = write * paddedTokens + (calls - 1) * read * paddedTokens;
        const uncached = calls * naturalTokens;
        expect(Math.abs(cached - uncached)).toBeLessThanOrEqual(
          1e-6 * (Math.abs(cached) + Math.abs(uncached) + paddedTokens * (read + write)),
        );
      }),
    );
  });

  test("a prefix that reaches the provider's minimum is left alone, also below 4,500", () => {
    const plan = planPadding({ ...auto, floorTokens: 1024 });
    expect(plan.texts).toEqual([]);
    expect(plan.reason).toBe("no padding: 2000 tokens reach the minimum of 1024");
  });

  test("a long session with a prefix below the minimum is padded to just above it", () => {
    const plan = planPadding(auto);
    const total = 2000 + plan.tokens;
    // 4,096 plus two per cent, and at most one more paragraph.
    expect(total).toBeGreaterThanOrEqual(4178);
    expect(total).toBeLessThan(4178 + 120);
    expect(plan.reason).toMatch(
      /^padded from 2000 to \d+ tokens \(minimum 4178\) with 0 skills and \d+ paragraphs; they pay from 3\.\d calls on, expected are 20$/,
    );
  });

  test("a session that ends before the padding has paid is not padded, and is told the numbers", () => {
    const plan = planPadding({ ...auto, expectedCalls: 3 });
    expect(plan).toMatchObject({ texts: [], preactivated: [], tokens: 0 });
    expect(plan.reason).toMatch(
      /^no padding: 2000 tokens padded to \d+ pay from 3\.\d calls on, expected are 3$/,
    );
  });

  test("a tiny prefix is never padded, however long the session is (M-24)", () => {
    const plan = planPadding({ ...auto, naturalTokens: 265, expectedCalls: 1_000_000 });
    expect(plan.texts).toEqual([]);
    expect(plan.reason).toMatch(/^no padding: 265 tokens padded to \d+ never pay for themselves$/);
  });

  test("a minimum that cannot be reached is not tried", () => {
    const plan = planPadding({ ...auto, naturalTokens: 9000, floorTokens: 32_768 });
    expect(plan.texts).toEqual([]);
    expect(plan.reason).toMatch(
      /^no padding: 9000 tokens padded to \d+ stay below the minimum of 33424$/,
    );
  });

  test("a provider without a minimum needs no padding", () => {
    const plan = planPadding({ ...auto, floorTokens: 0, naturalTokens: 0 });
    expect(plan.texts).toEqual([]);
  });

  test("every minimum that providers have can be met closely", () => {
    for (const floorTokens of [512, 1024, 2048, 4096]) {
      const naturalTokens = Math.floor(floorTokens / 2);
      const plan = planPadding({ ...auto, floorTokens, naturalTokens });
      expect(naturalTokens + plan.tokens).toBeGreaterThanOrEqual(floorTokens * 1.02);
      expect(naturalTokens + plan.tokens).toBeLessThan(floorTokens * 1.02 + 120);
    }
  });
});

test("padding that is switched off adds nothing", () => {
  expect(planPadding({ ...base, mode: "off", skills: [skillOf("a", 100)] })).toEqual({
    texts: [],
    preactivated: [],
    tokens: 0,
    reason: "no padding: it is switched off",
  });
});

test("padding is the last of what is static, as one section", () => {
  expect(toPaddingSection({ texts: ["one", "two"] })).toEqual({
    name: "padding",
    layer: "workspace",
    stability: "static",
    text: "one\n\ntwo",
  });
  expect(toPaddingSection({ texts: [] })).toBeNull();
});

// Goal: one prefix for every process. Method: the same skills, found in another order.
describe("for any skills", () => {
  const skill = fc.record({
    name: fc.string({ minLength: 1, maxLength: 12 }),
    body: fc.string({ maxLength: 40 }).map((text) => text.repeat(300)),
  });
  const skills = fc.uniqueArray(skill, { selector: ({ name }) => name, maxLength: 8 });
  const shuffled = skills.chain((given) =>
    fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length })),
  );
  const mode = fc.constantFrom("auto" as const, "always" as const);
  const naturalTokens = fc.integer({ min: 0, max: 6000 });

  test("the plan is the same in any order, to the byte", () => {
    fc.assert(
      fc.property(shuffled, mode, naturalTokens, ([given, other], aMode, tokens) => {
        const request = { ...base, mode: aMode, naturalTokens: tokens };
        expect(planPadding({ ...request, skills: other })).toEqual(
          planPadding({ ...request, skills: given }),
        );
      }),
    );
  });

  test("padding stays within its bounds and holds only whole bodies and whole paragraphs", () => {
    fc.assert(
      fc.property(skills, naturalTokens, (given, tokens) => {
        const plan = planPadding({ ...base, skills: given, naturalTokens: tokens });
        const whole = new Set([
          ...operatingContext,
          ...given.map(({ name, body }) => `# Skill: ${name}\n\n${body.trim()}`),
        ]);
        const added = plan.texts.join("\n\n").length / 4;
        expect(plan.texts.every((text) => whole.has(text))).toBe(true);
        expect(plan.texts.length === 0 || tokens + added <= 5500).toBe(true);
        expect(tokens + plan.tokens).toBeGreaterThanOrEqual(4500);
        expect(plan.tokens).toBeGreaterThanOrEqual(Math.floor(added));
      }),
    );
  });
});
