// Goal: a repaired list of tools has the same tools, and its markers where they were. Method: lists as bytes, with odd spellings.
import { expect, test } from "vitest";
import { toolsMeanTheSame } from "./check-repaired.ts";
import { repairTools, type ToolRepairs } from "./repair-tools.ts";

const sorting: ToolRepairs = {
  sorts: true,
  hasCanonicalSchemas: false,
  repairing: { toolName: ["name"], toolSchema: ["input_schema"] },
  markerNames: ["cache_control"],
};

test("tools change places, and what stands between them stays", () => {
  expect(repairTools('[ {"name":"b", "n":1.0},\n {"name":"a"} ]', sorting)).toBe(
    '[ {"name":"a"},\n {"name":"b", "n":1.0} ]',
  );
});

test("a list that is sorted already is not changed", () => {
  expect(repairTools('[{"name":"a"},{"name":"b"}]', sorting)).toBeNull();
  expect(repairTools("[]", sorting)).toBeNull();
});

test("names within another member are found there", () => {
  const repairing = { toolName: ["function", "name"], toolSchema: ["function", "parameters"] };
  const list = '[{"type":"function","function":{"name":"b"}},{"function":{"name":"a"}}]';
  expect(repairTools(list, { ...sorting, repairing })).toBe(
    '[{"function":{"name":"a"}},{"type":"function","function":{"name":"b"}}]',
  );
});

test("a marker ends a prefix of as many tools as before", () => {
  const list = '[{"name":"c"},{"name":"a","cache_control":{"type":"ephemeral"}},{"name":"b"}]';
  expect(repairTools(list, sorting)).toBe(
    '[{"name":"a"},{"name":"b","cache_control":{"type":"ephemeral"}},{"name":"c"}]',
  );
});

test("deferred tools come last, and do not count for markers", () => {
  const list =
    '[{"name":"a","defer_loading":true},{"name":"c","cache_control":{}},{"name":"b","defer_loading":false}]';
  expect(repairTools(list, sorting)).toBe(
    '[{"name":"b","defer_loading":false,"cache_control":{}},{"name":"c"},{"name":"a","defer_loading":true}]',
  );
});

test("schemas have their keys in order; numbers, lists and words keep their spelling", () => {
  const how = { ...sorting, sorts: false, hasCanonicalSchemas: true };
  const list =
    '[{"name":"a","z":1,"input_schema":{ "type" : "object", "required":["b","a"], "properties":{"b":{"const":1.0},"a":{"default":"\\u0041"}} }}]';
  const repaired =
    '[{"name":"a","z":1,"input_schema":{"properties":{"a":{"default":"\\u0041"},"b":{"const":1.0}},"required":["b","a"],"type":"object"}}]';
  expect(repairTools(list, how)).toBe(repaired);
  expect(toolsMeanTheSame(list, repaired, ["cache_control"])).toBe(true);
});

test.each([
  ["two tools of one name", '[{"name":"b"},{"name":"a"},{"name":"b"}]'],
  ["a tool without a name", '[{"name":"b"},{"type":"web_search"}]'],
  ["a name that is no text", '[{"name":"b"},{"name":1}]'],
  ["a tool with two names", '[{"name":"b"},{"name":"a","name":"c"}]'],
  [
    "a marker on a deferred tool",
    '[{"name":"b"},{"name":"a","defer_loading":true,"cache_control":{}}]',
  ],
  ["a marker before everything else", '[{"name":"b"},{"cache_control":{},"name":"a"}]'],
])("not clear, so left as it is: %s", (_what, list) => {
  expect(repairTools(list, sorting)).toBeNull();
});

test.each([
  ["a tool is missing", '[{"name":"a"}]'],
  ["a description differs", '[{"name":"a","description":"x"},{"name":"b"}]'],
  ["a list has another order", '[{"name":"a","input_schema":{"enum":[2,1]}},{"name":"b"}]'],
  ["a marker is missing", '[{"name":"a","input_schema":{"enum":[1,2]}},{"name":"b"}]'],
])("the check sees that %s", (_what, after) => {
  const before = '[{"name":"b"},{"name":"a","input_schema":{"enum":[1,2]},"cache_control":{}}]';
  expect(toolsMeanTheSame(before, after, ["cache_control"])).toBe(false);
});
