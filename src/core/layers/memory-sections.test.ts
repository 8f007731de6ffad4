import { expect, test } from "vitest";
import { memorySections } from "./memory-sections.ts";

test("USER.md comes before MEMORY.md, each trimmed under its heading (S-11)", () => {
  expect(
    memorySections({ user: "\nLikes tea.\n\n", workspace: "Uses pnpm.\n" }, "session"),
  ).toEqual([
    {
      name: "user context",
      layer: "memory",
      stability: "session",
      text: "## User context (USER.md)\n\nLikes tea.",
    },
    {
      name: "workspace memory",
      layer: "memory",
      stability: "session",
      text: "## Workspace memory (MEMORY.md)\n\nUses pnpm.",
    },
  ]);
});

test("an empty file has no section, and two empty files leave nothing (S-15)", () => {
  expect(memorySections({ user: " \n", workspace: "x" }, "turn")).toEqual([
    {
      name: "workspace memory",
      layer: "memory",
      stability: "turn",
      text: "## Workspace memory (MEMORY.md)\n\nx",
    },
  ]);
  expect(memorySections({ user: "", workspace: "" }, "session")).toEqual([]);
});

test("what is known of the user everywhere has a heading of its own, before the others", () => {
  const texts = { globalUser: "Speaks French.\n", user: "Ada\n", workspace: "" };
  expect(memorySections(texts, "session").map(({ name, text }) => [name, text])).toEqual([
    [
      "user context everywhere",
      "## User context of all workspaces (global USER.md)\n\nSpeaks French.",
    ],
    ["user context", "## User context (USER.md)\n\nAda"],
  ]);
});
