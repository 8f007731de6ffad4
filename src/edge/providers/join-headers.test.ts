import { expect, test } from "vitest";
import { joinHeaders } from "./transport.ts";

test("what is configured goes before what the request says", () => {
  const ofRequest = { "x-version": "1", "x-team": "ours" };
  expect(joinHeaders(ofRequest, { "x-team": "search", "x-api-key": "k" })).toEqual({
    "x-version": "1",
    "x-team": "search",
    "x-api-key": "k",
  });
});

test("features that both ask for are asked for together, each once (N-13)", () => {
  const ofRequest = { "anthropic-beta": "caching,long" };
  expect(joinHeaders(ofRequest, { "anthropic-beta": "mine, caching,, " })).toEqual({
    "anthropic-beta": "caching,long,mine",
  });
  expect(joinHeaders({}, { "anthropic-beta": "mine" })).toEqual({ "anthropic-beta": "mine" });
  expect(joinHeaders(ofRequest, {})).toEqual(ofRequest);
});
