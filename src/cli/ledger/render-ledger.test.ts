import { expect, test } from "vitest";
import { toJsonLine } from "./render-ledger.ts";

test("JSON keeps its value and loses what a terminal would take for a command", () => {
  const value = { text: "a\u009b31m\u2028\u202eb\u001b" };
  const line = toJsonLine(value);
  expect(line).toBe(String.raw`{"text":"a\u009b31m\u2028\u202eb\u001b"}` + "\n");
  expect(JSON.parse(line)).toEqual(value);
});
