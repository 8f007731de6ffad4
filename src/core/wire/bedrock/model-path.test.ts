import { expect, test } from "vitest";
import { modelPath, readModelPath } from "./model-path.ts";

test.each([
  "anthropic.claude-3-haiku-20240307-v1:0",
  "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-6",
  "a b(c)'d*e!f%g",
])("the model %s is read back from its path", (model) => {
  const path = modelPath(model, "converse-stream");
  expect(path).toMatch(/^\/model\/[\w.%-]+\/converse-stream$/);
  expect(readModelPath(path)).toEqual({ model, action: "converse-stream" });
  const url = `https://bedrock-runtime.us-east-1.amazonaws.com/gateway${path}?a=b`;
  expect(readModelPath(url)?.model).toBe(model);
});

test("another path names no model", () => {
  for (const path of [null, "/v1/messages", "/model/a/train", "/models/a/converse", "/model//"]) {
    expect(readModelPath(path)).toBe(null);
  }
});
