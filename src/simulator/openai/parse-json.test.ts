import { describe, expect, test } from "vitest";
import { compact, toPlain } from "./json.ts";
import { parseJson } from "./parse-json.ts";

function roundTrip(text: string): string | null {
  const value = parseJson(text);
  return value === null ? null : compact(value);
}

describe("reading JSON", () => {
  test("keys keep their order and numbers their spelling", () => {
    expect(roundTrip(' { "b" : 1.0 , "10":1e2, "2":[ ], "a":{ } }\n')).toBe(
      '{"b":1.0,"10":1e2,"2":[],"a":{}}',
    );
  });

  test("equal strings are equal however they were escaped", () => {
    expect(roundTrip('"\\u00e9\\/"')).toBe(roundTrip('"é/"'));
    expect(roundTrip('["\\\\", "\\"", "a\\\\\\"b", ""]')).toBe('["\\\\","\\"","a\\\\\\"b",""]');
  });

  test("what comes back is what JSON.parse gives", () => {
    const text = '{"a":[1,-2.5e-3,true,false,null,"x\\ny"],"__proto__":{"b":[[[]]]}}';
    const value = parseJson(text);
    expect(value === null ? null : JSON.stringify(toPlain(value))).toBe(
      JSON.stringify(JSON.parse(text)),
    );
  });

  test.each(["", "{", "[1,]", "{'a':1}", "01", '{"a":1}x'])("%s is no JSON", (text) => {
    expect(parseJson(text)).toBeNull();
  });

  test("what is nested too deep is refused, not a crash", () => {
    expect(parseJson("[".repeat(100_000) + "]".repeat(100_000))).toBeNull();
    expect(parseJson("[".repeat(200) + "]".repeat(200))).not.toBeNull();
  });
});
