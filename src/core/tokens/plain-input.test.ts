import { expect, test } from "vitest";
import { plainInput } from "./raw-count.ts";

test("a tool input reads as keys and values, without JSON's quotes and escapes", () => {
  expect(plainInput('{"path":"a\\tb","lines":[1,2.50],"deep":{"all":true,"none":null}}')).toEqual({
    text: "path\na\tb\nlines\n1\n2.5\ndeep\nall\ntrue\nnone\nnull",
    arguments: 3,
  });
});

test("an input that is not JSON is plain text already", () => {
  expect(plainInput("*** Begin Patch")).toEqual({ text: "*** Begin Patch", arguments: 0 });
});

test("an input that is no object has no arguments", () => {
  expect(plainInput('["a","b"]')).toEqual({ text: "a\nb", arguments: 0 });
});

test("an input nested a thousand times is read", () => {
  const deep = "[".repeat(1000) + '"x"' + "]".repeat(1000);
  expect(plainInput(deep)).toEqual({ text: "x", arguments: 0 });
});
