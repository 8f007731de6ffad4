import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bodyText, toRequest } from "./encoded-request.ts";
import { omitMembers } from "./counting.ts";

const encoder = new TextEncoder();

function omit(pieces: readonly string[], ...names: readonly string[]): string {
  const bytes = pieces.map((piece) => encoder.encode(piece));
  return bodyText(toRequest({ path: "/", parts: omitMembers(bytes, new Set(names)) }).pieces);
}

describe("members are left out", () => {
  test.each([
    ["the first", '{"a":1,"b":2,"c":3}', ["a"], '{"b":2,"c":3}'],
    ["one in the middle", '{"a":1,"b":2,"c":3}', ["b"], '{"a":1,"c":3}'],
    ["the last", '{"a":1,"b":2,"c":3}', ["c"], '{"a":1,"b":2}'],
    ["all of them", '{"a":1,"b":2}', ["a", "b"], "{}"],
    ["one that is there twice", '{"a":1,"b":2,"a":3}', ["a"], '{"b":2}'],
    ["one whose name is spelled with an escape", '{"\\u0061":1,"b":2}', ["a"], '{"b":2}'],
    ["with white space around them", ' { "a" : 1 , "b" : [ 2 ] } ', ["a"], '{"b":[ 2 ]}'],
  ])("%s", (_name, body, names, expected) => {
    expect(omit([body], ...names)).toBe(expected);
  });

  test("only at the top", () => {
    const body = '{"keep":{"stream":true,"list":[{"stream":1}]},"stream":true}';
    expect(omit([body], "stream")).toBe('{"keep":{"stream":true,"list":[{"stream":1}]}}');
  });

  test("and braces, commas and quotes inside strings are text", () => {
    const body = String.raw`{"text":"},\"stream\":{[\\","stream":true}`;
    expect(omit([body], "stream")).toBe(String.raw`{"text":"},\"stream\":{[\\"}`);
  });

  test("and numbers keep their spelling", () => {
    const body = '{"stream":true,"input":{"10":1.0,"2":1e3,"n":12345678901234567890}}';
    expect(omit([body], "stream")).toBe('{"input":{"10":1.0,"2":1e3,"n":12345678901234567890}}');
  });
});

test("where nothing is left out, the pieces are the very same", () => {
  const pieces = [encoder.encode('{"a":'), encoder.encode("1}")];
  expect(omitMembers(pieces, new Set(["b"]))).toBe(pieces);
});

test.each(["[1,2]", "", "true", '"stream"', '{"stream":true', '{"stream":1}{"stream":2}'])(
  "%s is no object and stays as it is",
  (body) => {
    expect(omit([body], "stream")).toBe(body);
  },
);

function spell(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
}

test("what stays has its bytes, wherever the pieces end", () => {
  const names = ["stream", "max_tokens", "messages", "é", 'q"'];
  const member = fc.tuple(fc.constantFrom(...names), fc.json());
  const members = fc.uniqueArray(member, { selector: ([name]) => name });
  fc.assert(
    fc.property(
      members,
      fc.subarray(names),
      fc.array(fc.nat(), { maxLength: 5 }),
      (all, out, cuts) => {
        const bytes = encoder.encode(spell(all));
        const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted(
          (left, right) => left - right,
        );
        const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        const { pieces: left } = toRequest({ path: "/", parts: omitMembers(pieces, new Set(out)) });
        expect(bodyText(left)).toBe(spell(all.filter(([name]) => !out.includes(name))));
      },
    ),
  );
});
