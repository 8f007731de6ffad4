import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkInput, describeViolation, parseInput } from "./check-input.ts";
import { readInputSchema } from "./input-schema.ts";

const { schema } = readInputSchema(
  JSON.stringify({
    type: "object",
    properties: {
      path: { type: "string", minLength: 1, maxLength: 5 },
      limit: { type: "integer", minimum: 1, maximum: 50 },
      ratio: { type: "number" },
      file: { type: "string", enum: ["MEMORY.md", "USER.md"] },
      all: { type: "boolean" },
      list: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 2 },
      deep: { type: "object", properties: { a: { type: "null" } }, required: ["a"] },
      any: {},
    },
    required: ["path"],
    additionalProperties: false,
  }),
);

function violationsOf(input: unknown): string[] {
  return checkInput(schema, input).map(describeViolation);
}

describe("inputs against a schema", () => {
  test("what fits has no violations", () => {
    const input = {
      path: "a",
      limit: 50,
      ratio: 0.5,
      file: "USER.md",
      all: false,
      list: ["x"],
      deep: { a: null, more: 1 },
      any: [{}],
    };
    expect(violationsOf(input)).toEqual([]);
  });

  test("every violation is reported, with its place", () => {
    const input = {
      paht: "a",
      limit: 1.5,
      ratio: "1",
      file: "memory.md",
      all: 1,
      list: ["a", 2, null],
      deep: { a: 1 },
    };
    expect(violationsOf(input)).toEqual([
      "/path is missing",
      "/paht is not known; did you mean path?",
      "/limit must be a whole number, not 1.5",
      '/ratio must be a number, not "1"',
      '/file must be one of "MEMORY.md", "USER.md", not "memory.md"',
      "/all must be true or false, not 1",
      "/list must have at most 2 items",
      "/list/1 must be text, not 2",
      "/list/2 must be text, not null",
      "/deep/a must be null, not 1",
    ]);
  });

  test.each([
    [{ path: "" }, "/path must not be empty"],
    [{ path: "123456" }, "/path must have at most 5 characters"],
    [{ path: "a\ud800" }, "/path holds half a character (a lone surrogate)"],
    [{ path: "a", limit: 0 }, "/limit must be 1 or more"],
    [{ path: "a", limit: 51 }, "/limit must be 50 or less"],
    [{ path: "a", limit: 1e19 }, "/limit must be a whole number, not 10000000000000000000"],
    [{ path: "a", list: [] }, "/list must have 1 items or more"],
    [{ path: "a", deep: [] }, "/deep must be an object, not a list"],
    [{ path: "a", deep: {} }, "/deep/a is missing"],
    [[], "the input must be an object, not a list"],
    [null, "the input must be an object, not null"],
  ])("%j: %s", (input, violation) => {
    expect(violationsOf(input)).toEqual([violation]);
  });

  test("five characters outside the basic plane are five characters", () => {
    expect(violationsOf({ path: "😀😀😀😀😀" })).toEqual([]);
  });

  test("what every object inherits is neither there nor known", () => {
    expect(violationsOf({ path: "a", constructor: 1 })).toEqual(["/constructor is not known"]);
    expect(violationsOf(JSON.parse('{"path":"a","__proto__":{"limit":1}}'))).toEqual([
      "/__proto__ is not known",
    ]);
  });

  test("fifty violations are reported and the others counted", () => {
    const many = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 1]),
    );
    const violations = violationsOf({ path: "a", ...many });
    expect(violations).toHaveLength(51);
    expect(violations.at(-1)).toBe("the input breaks 99950 more rules");
  });

  test("nothing makes checking throw", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(Array.isArray(checkInput(schema, value))).toBe(true);
      }),
    );
  });
});

describe("a model's JSON text", () => {
  test("an empty text is an empty object", () => {
    expect(parseInput("", 10)).toEqual({ input: {}, problem: null });
    expect(parseInput(" \n", 10)).toEqual({ input: {}, problem: null });
  });

  test.each([
    ["{", "is not JSON (at position 1)"],
    ["[]", "must be a JSON object"],
    ["null", "must be a JSON object"],
    ['"x"', "must be a JSON object"],
    ['{"a":"0123456789"}', "has 18 characters; 12 are taken at most"],
  ])("%s %s", (json, problem) => {
    expect(parseInput(json, 12)).toEqual({ input: null, problem });
  });

  test("no text makes parsing throw, however deep", () => {
    expect(parseInput("[".repeat(100_000), 1_000_000).problem).toContain("is not JSON");
    expect(
      parseInput(`{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, 1_000_000).problem,
    ).toBeNull();
    fc.assert(
      fc.property(fc.string(), (text) => {
        const { input, problem } = parseInput(text, 1000);
        expect(input === null).toBe(problem !== null);
      }),
    );
  });
});
