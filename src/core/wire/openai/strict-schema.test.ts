import { expect, test } from "vitest";
import { isStrictSchema } from "./encode.ts";

const closed = (properties: string, required: string): string =>
  `{"type":"object","properties":{${properties}},"required":[${required}],"additionalProperties":false}`;

test.each([
  closed('"a":{"type":"string"}', '"a"'),
  closed('"a":{"type":["string","null"],"description":"maybe"}', '"a"'),
  closed(`"a":{"type":"array","items":${closed('"b":{"enum":[1]}', '"b"')}}`, '"a"'),
])("a schema that leaves nothing open is strict: %s", (schema) => {
  expect(isStrictSchema(schema)).toBe(true);
});

test.each([
  '{"type":"object"}',
  '{"type":"string"}',
  "not JSON",
  closed('"a":{"type":"string"}', ""),
  closed('"a":{"type":"object","properties":{}}', '"a"'),
  closed(`"a":{"type":"array","items":{"type":"object"}}`, '"a"'),
  closed('"a":{"allOf":[]}', '"a"'),
])("a schema that leaves something open is not: %s", (schema) => {
  expect(isStrictSchema(schema)).toBe(false);
});
