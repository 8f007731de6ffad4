// The table of role differences, row by row. The ledger handles history per role.
import { describe, expect, test } from "vitest";
import { describeEnvironment, type Capability } from "./environment.ts";
import { readEvent } from "./event.ts";
import type { AgentRole } from "../message/assembled-context.ts";
import { roleRules, workerTask } from "./roles.ts";
import { toSections, type ContextParts } from "./to-sections.ts";

const capabilities: readonly Capability[] = [
  { category: "Communication", name: "email", status: "ready" },
  { category: "Files", name: "search", status: "ready" },
];
const notes = { credentialCount: 0, guideHint: "" };

const parts: Omit<ContextParts, "role"> = {
  workspaceRules: "Be brief.",
  persona: { identity: "You are Atlas.", soul: "Calm." },
  environment: describeEnvironment(capabilities, notes),
};

function textOf(role: AgentRole, name: string): string | undefined {
  return toSections({ ...parts, role }).find((section) => section.name === name)?.text;
}

function scoped(scope: string): string | null {
  const isAsked = ({ category, name }: Capability): boolean => [category, name].includes(scope);
  return describeEnvironment(capabilities.filter(isAsked), notes);
}

describe("manager and worker", () => {
  test("both get the whole of the workspace's rules", () => {
    expect(textOf("manager", "workspace rules")).toBe("Be brief.");
    expect(textOf("worker", "workspace rules")).toBe("Be brief.");
  });

  test("a worker has its manager's persona", () => {
    for (const name of ["identity", "soul"]) {
      expect(textOf("worker", name)).toBe(textOf("manager", name));
    }
  });

  test("a manager sees the whole environment, a worker what its task is about, with the task", () => {
    expect(textOf("manager", "environment")).toMatch(/email.*\n.*search/);
    expect(textOf("worker", "environment")).toBeUndefined();
    expect(workerTask("Find the bug.\n", scoped("Files"))).toBe(
      [
        "## Environment",
        "",
        "Capabilities (✅ ready, 🔧 needs setup, ⛔ unavailable):",
        "Files: search ✅",
        "",
        "## Your task",
        "",
        "Find the bug.",
      ].join("\n"),
    );
  });

  test("a manager learns the platform and its actions, a worker does not", () => {
    const event = { content: "Hi", source: "chat", platform: "Slack", platformActions: ["reply"] };
    const now = { iso: "2026-11-15T10:00:00.000Z" };
    const volatileOf = (role: AgentRole): string =>
      readEvent(event, role, now)
        .volatile.map(({ text }) => text)
        .join("\n");
    expect(volatileOf("manager")).toMatch(/Platform: Slack\nAvailable actions: reply$/);
    expect(volatileOf("unified")).toBe(volatileOf("manager"));
    expect(volatileOf("worker")).not.toMatch(/Slack|reply/);
  });

  test("a manager has rules for messages; a worker replies to its manager alone", () => {
    expect(roleRules("manager")).toMatch(/^## Messaging\n/);
    expect(roleRules("worker")).not.toMatch(/## Messaging/);
    expect(roleRules("worker")).toMatch(/You reply to the manager alone\./);
  });

  test("a worker has four rules and three prohibitions", () => {
    const rules = roleRules("worker").split("\n");
    expect(rules.filter((line) => /^\d\. /.test(line)).map((line) => line.slice(0, 24))).toEqual([
      "1. Stay on the task. Wha",
      "2. Finish the task and r",
      "3. Start nothing on your",
      "4. You may be ended once",
    ]);
    expect(rules.filter((line) => line.startsWith("- You do not "))).toHaveLength(3);
  });

  test("an agent on its own has the rules for messages and none of the prohibitions", () => {
    expect(roleRules("unified")).toBe(roleRules("manager"));
    expect(roleRules("unified")).not.toMatch(/You do not/);
  });
});

test("workers of different tasks have the same system sections (C-12)", () => {
  const first = toSections({ ...parts, role: "worker", environment: scoped("Files") });
  const second = toSections({ ...parts, role: "worker", environment: scoped("email") });
  expect(first).toEqual(second);
  expect(workerTask("Find it.", scoped("Files"))).not.toBe(workerTask("Find it.", scoped("email")));
});

test("a task without capabilities stands alone", () => {
  expect(workerTask("Count to ten.", null)).toBe("## Your task\n\nCount to ten.");
});
