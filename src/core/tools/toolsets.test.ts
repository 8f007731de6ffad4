import { describe, expect, test } from "vitest";
import { StrataError } from "../strata-error.ts";
import { isToolName, registerTools } from "./check-tools.ts";
import type { OfferedTool } from "./select-tools.ts";
import type { Tool } from "./tool.ts";
import { findToolset, selectFromToolset, toolsets } from "./toolsets.ts";

function toolOf(name: string, parts: Partial<Tool> = {}): Tool {
  return {
    definition: { name, description: "Does it.", inputSchemaJson: '{"type":"object"}' },
    needs: [],
    sideEffects: "none",
    run: () => Promise.resolve({ text: "" }),
    ...parts,
  };
}

const offered: readonly OfferedTool[] = [
  toolOf("write", { needs: ["files.write"] }),
  toolOf("read", { needs: ["files.read"] }),
  toolOf("bash", { needs: ["commands.run"] }),
  toolOf("memory_add", { needs: ["memory.write"] }),
  toolOf("delegate"),
];

function namesFor(toolset: string, role: "manager" | "worker" | "unified"): string[] {
  const { tools } = selectFromToolset({ offered, toolset: findToolset(toolset), role });
  return tools.map(({ definition }) => definition.name);
}

describe("named toolsets (X-20)", () => {
  test("each has what the one before it has", () => {
    expect(toolsets.map(({ name }) => name)).toEqual(["none", "read-only", "workspace", "full"]);
    expect(namesFor("none", "unified")).toEqual([]);
    expect(namesFor("read-only", "unified")).toEqual(["delegate", "read"]);
    expect(namesFor("workspace", "unified")).toEqual(["delegate", "memory_add", "read", "write"]);
    expect(namesFor("full", "unified")).toEqual([
      "bash",
      "delegate",
      "memory_add",
      "read",
      "write",
    ]);
  });

  test("a worker gets neither memory tools nor delegate, also when they forget to say so (S-17)", () => {
    expect(namesFor("full", "worker")).toEqual(["bash", "read", "write"]);
    expect(namesFor("full", "manager")).toContain("delegate");
  });

  test("what is left out is named with its reason, a name that is not offered too", () => {
    const tools = ["read", "write", "delegate", "wriet"];
    const own = { name: "mine", granted: ["files.read", "files.read"], tools };
    const selected = selectFromToolset({ offered, toolset: own, role: "worker" });
    expect(selected.tools).toEqual([offered[1]]);
    expect(selected.permissions).toEqual(["files.read"]);
    expect(selected.toolsLeft).toEqual([
      { name: "bash", reason: "not in the toolset mine" },
      { name: "memory_add", reason: "not in the toolset mine" },
      { name: "write", reason: "not granted: files.write" },
      { name: "delegate", reason: "not for the role worker" },
      {
        name: "wriet",
        reason: "in the toolset mine, and no tool is called that; did you mean write?",
      },
    ]);
  });

  test("one's own comes before ours, and an unknown name is an error with the nearest", () => {
    const own = { name: "full", granted: [] };
    expect(findToolset("full", [own])).toBe(own);
    expect(() => findToolset("ful")).toThrow(
      expect.objectContaining({ code: "config-invalid", hint: "did you mean full?" }),
    );
  });
});

describe("registration (D-05)", () => {
  test("a good tool is registered under its name with its schema read", () => {
    const tool = toolOf("read");
    expect(registerTools([tool]).get("read")?.tool).toBe(tool);
  });

  test("everything that is wrong with any tool is in one error", () => {
    const bad = toolOf("bad", {
      definition: {
        name: "bad",
        description: " ",
        inputSchemaJson: '{"type":"object","oneOf":[]}',
      },
    });
    const register = (): unknown => registerTools([bad, toolOf("a"), toolOf("a"), toolOf("a b")]);
    expect(register).toThrow(StrataError);
    expect(register).toThrow(
      'the tool bad has no description; the schema of bad: /oneOf is not in the part of JSON Schema that every provider takes; there are two tools called a; "a b" is no name for a tool',
    );
  });

  test("a name has letters, digits, _ and -, begins with a letter, and ends at 64", () => {
    const names = ["a", "read_file", "mcp__x-y", "A1", "x".repeat(64)];
    const others = ["", "1a", "_a", "a b", "a.b", "é", "x".repeat(65), "a\n"];
    expect(names.filter(isToolName)).toEqual(names);
    expect(others.filter(isToolName)).toEqual([]);
  });
});
