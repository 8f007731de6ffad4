import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ToolDefinition } from "../message/tool-definition.ts";
import { selectTools, type OfferedTool, type ToolOffer } from "./select-tools.ts";

function toolOf(name: string, description = `Runs ${name}.`): ToolDefinition {
  return { name, description, inputSchemaJson: '{"type":"object"}' };
}

function offer(name: string, parts: Partial<OfferedTool> = {}): OfferedTool {
  return { definition: toolOf(name), needs: [], ...parts };
}

function select(parts: Partial<ToolOffer>): ReturnType<typeof selectTools> {
  return selectTools({ offered: [], granted: [], role: "unified", order: "sorted", ...parts });
}

function namesOf(parts: Partial<ToolOffer>): string[] {
  return select(parts).tools.map(({ name }) => name);
}

describe("which tools an agent is offered", () => {
  test("a tool needs every permission it names", () => {
    const offered = [offer("write", { needs: ["files.read", "files.write"] }), offer("echo")];
    expect(select({ offered, granted: ["files.read"] })).toEqual({
      tools: [toolOf("echo")],
      left: [{ name: "write", reason: "not granted: files.write" }],
    });
    expect(namesOf({ offered, granted: ["files.write", "files.read"] })).toEqual(["echo", "write"]);
  });

  test("a worker gets neither memory tools nor delegate, whatever it is granted (S-17)", () => {
    const notForWorkers = { needs: ["all"], roles: ["manager", "unified"] as const };
    const offered = [
      offer("memory_add", notForWorkers),
      offer("delegate", notForWorkers),
      offer("read", { needs: ["all"] }),
    ];
    expect(select({ offered, granted: ["all"], role: "worker" })).toEqual({
      tools: [toolOf("read")],
      left: [
        { name: "memory_add", reason: "not for the role worker" },
        { name: "delegate", reason: "not for the role worker" },
      ],
    });
    const all = ["delegate", "memory_add", "read"];
    expect(namesOf({ offered, granted: ["all"], role: "manager" })).toEqual(all);
    expect(namesOf({ offered, granted: ["all"], role: "unified" })).toEqual(all);
  });

  test("a worker gets none of them also where they forget to say so (S-17)", () => {
    const names = ["delegate", "memory_add", "memory_consolidate", "memory_replace"];
    const offered = [...names, "read"].map((name) => offer(name));
    expect(namesOf({ offered, role: "worker" })).toEqual(["read"]);
    expect(namesOf({ offered, role: "manager" })).toEqual([...names, "read"]);
  });

  test("the first tool of a name wins, and the others are reported", () => {
    const other = toolOf("read", "Reads something else.");
    const offered = [offer("read"), { definition: other, needs: [] }, offer("read")];
    expect(select({ offered })).toEqual({
      tools: [toolOf("read")],
      left: [
        { name: "read", reason: "another tool of this name was offered before" },
        { name: "read", reason: "offered before" },
      ],
    });
  });

  test("a tool that may not be used does not take the name of one that may", () => {
    const other = toolOf("read", "Reads for everybody.");
    const offered = [offer("read", { needs: ["files.read"] }), { definition: other, needs: [] }];
    expect(select({ offered }).tools).toEqual([other]);
  });
});

describe("the order of tools (C-13)", () => {
  const offered = ["b", "a_1", "B", "a", "aB", "é", "a-1"].map((name) => offer(name));

  test("tools are sorted by code units, the same in every locale", () => {
    expect(namesOf({ offered })).toEqual(["B", "a", "a-1", "aB", "a_1", "b", "é"]);
  });

  test("the given order can be kept", () => {
    expect(namesOf({ offered, order: "given" })).toEqual(["b", "a_1", "B", "a", "aB", "é", "a-1"]);
  });

  test("sorted tools do not show in which order they were offered", () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 20 });
    const orders = names.chain((given) =>
      fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length })),
    );
    fc.assert(
      fc.property(orders, ([given, other]) => {
        const tools = namesOf({ offered: given.map((name) => offer(name)) });
        expect(namesOf({ offered: other.map((name) => offer(name)) })).toEqual(tools);
        expect(tools).toHaveLength(given.length);
      }),
    );
  });
});

test("tools are copies, and what was offered stays as it was", () => {
  const definition = Object.freeze(toolOf("read"));
  const offered = Object.freeze([
    Object.freeze({ definition: toolOf("write"), needs: [] }),
    Object.freeze({ definition, needs: [] }),
  ]);
  const [first] = select({ offered }).tools;
  expect(first).toEqual(definition);
  expect(first).not.toBe(definition);
});
