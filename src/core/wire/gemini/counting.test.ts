import { expect, test } from "vitest";
import { resolveModel } from "../../models/resolve-model.ts";
import { bodyText } from "../encoded-request.ts";
import { counting } from "./counting.ts";
import { gemini } from "./index.ts";
import { bodyOf, callOf, readTool } from "./test-kit.ts";

const options = { toolChoice: "any", stream: true } as const;

test("the Gemini API counts the whole request under one name", () => {
  const counted = counting.encode(gemini.encode(callOf({ tools: [readTool] }, options)));
  expect(counted.path).toBe("/v1beta/models/gemini-3.8-flash:countTokens");
  const body = bodyOf({ tools: [readTool] }, options);
  expect(bodyText(counted.pieces)).toBe(
    `{"generateContentRequest":{"model":"models/gemini-3.8-flash",${body.slice(1)}}`,
  );
});

test("Vertex counts the members of a request without those that it does not take", () => {
  const model = resolveModel("vertex/gemini-3.8-flash").facts;
  const counted = counting.encode(gemini.encode(callOf({ model, tools: [readTool] }, options)));
  expect(counted.path).toBe("/publishers/google/models/gemini-3.8-flash:countTokens");
  expect(Object.keys(JSON.parse(bodyText(counted.pieces)) as object)).toEqual([
    "tools",
    "contents",
    "generationConfig",
  ]);
});

test.each([
  ['{"totalTokens":31}', 31],
  ['{"totalTokens":0}', null],
  ['{"totalTokens":"31"}', null],
  ["[]", null],
])("%s is a count of %s", (body, tokens) => {
  expect(counting.decode(body)).toBe(tokens);
});

test("a request to count is known by its path", () => {
  const paths = ["/v1beta/models/m:countTokens", "/v1beta/models/m:generateContent"];
  expect(paths.map((path) => counting.isAskedAt(path))).toEqual([true, false]);
});
