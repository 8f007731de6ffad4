import { describe, expect, test } from "vitest";
import { toTakenId, withTakenId } from "./spell-content.ts";

describe("a tool id", () => {
  test.each([
    ["toolu_01A-b", "toolu_01A-b"],
    ["functions.look:0", "functions_look_0_ec000204"],
    ["a.b", "a_b_2e7336dc"],
    ["a:b", "a_b_6783a31e"],
    ["", "_e3b0c442"],
  ])("%j is sent as %j", (id, taken) => {
    expect(toTakenId(id)).toBe(taken);
    expect(toTakenId(taken)).toBe(taken);
  });

  test("is changed in the text a block came as, and not another byte of it", () => {
    const use = '{ "name":"a.b", "\\u0069d" : "a.b","input":{"id":"a.b","n":1.0}}';
    expect(withTakenId(use, "tool_use", { id: "a.b" })).toBe(
      '{ "name":"a.b", "\\u0069d" : "a_b_2e7336dc","input":{"id":"a.b","n":1.0}}',
    );
    const result = '{"tool_use_id":"a:b","tool_use_id":"a.b","content":[]}';
    expect(withTakenId(result, "tool_result", { tool_use_id: "a.b" })).toBe(
      '{"tool_use_id":"a_b_2e7336dc","tool_use_id":"a_b_2e7336dc","content":[]}',
    );
  });

  test("of any other block stays as it is", () => {
    const json = '{"type":"server_tool_use","id":"a.b"}';
    expect(withTakenId(json, "server_tool_use", { id: "a.b" })).toBe(json);
    expect(withTakenId('{"id":7}', "tool_use", { id: 7 })).toBe('{"id":7}');
  });
});
