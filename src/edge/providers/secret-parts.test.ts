import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../../harness/measure.ts";
import { createRedact } from "./redact.ts";

const key = ["sk", "ant", "api03-kQ9vT2mZ7pLw4RbN8cXs1YhJ6dFgA3uE/=+"].join("-");
const redact = createRedact({ "x-api-key": key, "x-team": "team-one" });

describe("a key that a server repeats is taken out", () => {
  test.each<[string, string, string]>([
    ["as it is", `bad key ${key}!`, "bad key [redacted]!"],
    ["in capitals", key.toUpperCase(), "[redacted]"],
    ["in an address", `/?k=${encodeURIComponent(key)}&a=b`, "/?k=[redacted]&a=b"],
    ["by its beginning", `${key.slice(0, 24)}... is wrong`, "[redacted]... is wrong"],
    ["by its end", `...${key.slice(-12)} is wrong`, "...[redacted] is wrong"],
    ["in two lines", `${key.slice(0, 20)}\n${key.slice(20)}`, "[redacted]\n[redacted]"],
    ["in hex", Buffer.from(key).toString("hex"), "[redacted]"],
    ["twice", `${key} and ${key}`, "[redacted] and [redacted]"],
    ["with others", `team-one has ${key}`, "[redacted] has [redacted]"],
  ])("%s", (_way, text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  test.each(["", "a", "ab", "user:"])("in base64 after %j, but for what it shares", (before) => {
    for (const form of ["base64", "base64url"] as const) {
      const text = redact(Buffer.from(`${before}${key}`).toString(form));
      expect(text).toMatch(/^[\w+/-]{0,8}\[redacted\][\w+/=-]{0,3}$/);
    }
  });

  test("wherever it stands, and nothing else is", () => {
    const around = fc.string({ maxLength: 30 });
    fc.assert(
      fc.property(around, fc.nat(30), fc.integer({ min: 12, max: 60 }), around, (...values) => {
        const [before, start, length, after] = values;
        const part = key.slice(start, start + length);
        fc.pre(part.length >= 12);
        const text = redact(`${before}\n${part}\n${after}`);
        expect(text).toBe(`${before}\n[redacted]\n${after}`);
      }),
    );
  });
});

test.each([
  "prompt is too long: 205000 tokens > 200000 maximum",
  "keys begin with sk-ant-",
  "teams have one",
  "",
])("what is no part of a key stays: %s", (text) => {
  expect(redact(text)).toBe(text);
});

test("a megabyte of what nearly is a key takes no time", () => {
  const long = `${key.slice(0, 11)} `.repeat(100_000);
  const cpuMs = cpuMsOf(() => {
    expect(redact(long)).toBe(long);
    expect(redact(key.repeat(20_000))).toBe("[redacted]");
  });
  expect(cpuMs).toBeLessThan(5000);
});
