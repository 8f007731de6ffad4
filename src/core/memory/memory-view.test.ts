import { describe, expect, test } from "vitest";
import { toMemoryTexts, viewMemory } from "./memory-view.ts";

const start = { user: "Likes tea.\n", workspace: "Uses npm.\n" };
const now = { user: "Likes tea.\n", workspace: "Uses npm.\nNode 24.\n" };

describe("modes (C-3)", () => {
  test("snapshot-delta: the session keeps what it began with, and a call says what changed", () => {
    const quiet = viewMemory("snapshot-delta", start, start);
    expect(quiet.session.map(({ stability, text }) => [stability, text])).toEqual([
      ["session", "## User context (USER.md)\n\nLikes tea."],
      ["session", "## Workspace memory (MEMORY.md)\n\nUses npm."],
    ]);
    expect(quiet).toMatchObject({ volatile: [], isWhole: true });
    const later = viewMemory("snapshot-delta", start, now);
    expect(later.session).toEqual(quiet.session);
    expect(later.volatile).toEqual([
      {
        name: "memory changes",
        layer: "memory",
        stability: "turn",
        text: "Memory has changed since the start of this session.\n\nMEMORY.md: 1 line added, 0 lines removed.\n+ Node 24.",
      },
    ]);
  });

  test("a change too long to be shown is not all that was shown", () => {
    const many = {
      user: "",
      workspace: Array.from({ length: 60 }, (_, line) => `${line}`).join("\n"),
    };
    expect(viewMemory("snapshot-delta", start, many).isWhole).toBe(false);
    expect(viewMemory("live-tail", start, many).isWhole).toBe(true);
  });

  test("live-tail and live-system: every call has the texts of now, the second in the system prompt", () => {
    const tail = viewMemory("live-tail", start, now);
    expect(tail.session).toEqual([]);
    expect(tail.volatile.map(({ stability, text }) => [stability, text])).toEqual([
      ["turn", "## User context (USER.md)\n\nLikes tea."],
      ["turn", "## Workspace memory (MEMORY.md)\n\nUses npm.\nNode 24."],
    ]);
    expect(viewMemory("live-system", start, now)).toEqual(tail);
  });
});

describe("what may be shown", () => {
  const sources = { globalUser: "", user: "Ada\n", workspace: "Secret.\n" };

  test("CF-D shared-scope exclusion: MEMORY.md is not for others (C-16)", () => {
    expect(toMemoryTexts(sources, "main").texts).toEqual({ user: "Ada\n", workspace: "Secret.\n" });
    expect(toMemoryTexts(sources, "shared").texts).toEqual({ user: "Ada\n", workspace: "" });
  });

  test("S-16: a global USER.md stays apart from the workspace's, and comes before it", () => {
    const both = toMemoryTexts({ ...sources, globalUser: "Speaks French.\n\n" }, "main");
    expect(both).toEqual({
      texts: { globalUser: "Speaks French.\n\n", user: "Ada\n", workspace: "Secret.\n" },
      cut: [],
    });
  });

  test("of a file above its hard cap no more than the cap is shown, with how much is left out", () => {
    const large = { ...sources, workspace: "x".repeat(1_048_576), globalUser: "y".repeat(4000) };
    const { texts, cut } = toMemoryTexts(large, "main");
    expect(cut).toEqual(["MEMORY.md"]);
    expect(texts.workspace.length).toBeLessThanOrEqual(4096);
    expect(texts.workspace).toMatch(
      /\[\d+ of 1048576 bytes of MEMORY\.md are left out here: it is over its hard cap of 4096 bytes\./,
    );
    expect(texts.globalUser?.length).toBeLessThanOrEqual(3072);
    const full = { ...sources, workspace: "x".repeat(4096) };
    expect(toMemoryTexts(full, "main")).toMatchObject({
      texts: { workspace: full.workspace },
      cut: [],
    });
  });
});
