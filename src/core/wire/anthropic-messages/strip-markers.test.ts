import { expect, test } from "vitest";
import { withoutMarkers } from "./strip-markers.ts";

const marker = '"cache_control":{"type":"ephemeral","ttl":"1h"}';

test.each([
  ["at the end", `{"type":"text","text":"a",${marker}}`, '{"type":"text","text":"a"}'],
  ["in the middle", `{"type":"text",${marker},"text":"a"}`, '{"type":"text","text":"a"}'],
  ["at the start", `{${marker},"type":"text","n":1.0}`, '{"type":"text","n":1.0}'],
  ["twice", `{${marker},${marker},"type":"text"}`, '{"type":"text"}'],
  ["alone", `{${marker}}`, "{}"],
  ["between white space", `{ ${marker} , "type" : "text" }`, '{ "type" : "text" }'],
  ["with an escaped key", '{"type":"text","cache\\u005fcontrol":null}', '{"type":"text"}'],
  [
    "in a tool result's content",
    `{"type":"tool_result","content":[{"type":"text","text":"a",${marker}} , "b"],${marker}}`,
    '{"type":"tool_result","content":[{"type":"text","text":"a"} , "b"]}',
  ],
])("a marker %s is taken out, and nothing else", (_where, json, expected) => {
  expect(withoutMarkers(json)).toBe(expected);
});

test.each([
  `{"type":"tool_use","id":"t","name":"n","input":{${marker}}}`,
  '{"type":"text","text":"\\"cache_control\\":{}"}',
  `{"type":"x","content":[{"content":[{${marker}}]}]}`,
  '{"type":"text","text":"\\u00e9" }',
])("what is no marker of the block stays: %s", (json) => {
  expect(withoutMarkers(json)).toBe(json);
});
