import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeMemoryChange } from "./memory-delta.ts";

const snapshot = { user: "Name: Ada\nLikes tea.\n", workspace: "Uses npm.\nTests with vitest.\n" };

describe("memory that changed since the snapshot", () => {
  test("there is no text when nothing changed, nor for white space", () => {
    expect(describeMemoryChange(snapshot, snapshot)).toBeNull();
    const spaced = { user: "Name: Ada  \r\n\nLikes tea.", workspace: snapshot.workspace };
    expect(describeMemoryChange(snapshot, spaced)).toBeNull();
  });

  test("lines that came and went are shown for each file that changed", () => {
    const current = {
      user: snapshot.user,
      workspace: "Uses pnpm.\nTests with vitest.\nNode 24.\n",
    };
    expect(describeMemoryChange(snapshot, current)).toBe(
      [
        "Memory has changed since the start of this session.",
        "",
        "MEMORY.md: 2 lines added, 1 line removed.",
        "+ Uses pnpm.",
        "+ Node 24.",
        "- Uses npm.",
      ].join("\n"),
    );
  });

  test("both files can change", () => {
    expect(describeMemoryChange(snapshot, { user: "", workspace: "" })).toBe(
      [
        "Memory has changed since the start of this session.",
        "",
        "USER.md: 0 lines added, 2 lines removed.",
        "- Name: Ada",
        "- Likes tea.",
        "",
        "MEMORY.md: 0 lines added, 2 lines removed.",
        "- Uses npm.",
        "- Tests with vitest.",
      ].join("\n"),
    );
  });

  test("a line that is there twice now was added once", () => {
    const current = { user: `${snapshot.user}Likes tea.\n`, workspace: snapshot.workspace };
    expect(describeMemoryChange(snapshot, current)).toMatch(
      /USER\.md: 1 line added, 0 lines removed\.\n\+ Likes tea\.$/,
    );
  });

  test("lines that only moved are shown in their new order", () => {
    const current = { user: "Likes tea.\nName: Ada\n", workspace: snapshot.workspace };
    expect(describeMemoryChange(snapshot, current)).toMatch(
      /USER\.md: the same lines in another order\. It says now:\nLikes tea\.\nName: Ada$/,
    );
  });

  test("where lines came and others moved, the whole text is shown, or how much of it is not", () => {
    const current = { user: "New.\nLikes tea.\nName: Ada\n", workspace: snapshot.workspace };
    const limits = { linesMax: 2, charactersMax: 100 };
    expect(describeMemoryChange(snapshot, current, limits)?.split("\n").slice(2)).toEqual([
      "USER.md: its lines in another order. It says now:",
      "New.",
      "Likes tea.",
      "(1 of 3 lines are not shown.)",
    ]);
  });

  test("a change of the global file is reported apart from the workspace's own", () => {
    const [before, now] = ["Speaks French.\n", "Speaks Greek.\n"].map((globalUser) => ({
      ...snapshot,
      globalUser,
    }));
    expect(
      describeMemoryChange(before ?? snapshot, now ?? snapshot)
        ?.split("\n")
        .slice(2),
    ).toEqual([
      "User context of all workspaces (global USER.md): 1 line added, 1 line removed.",
      "+ Speaks Greek.",
      "- Speaks French.",
    ]);
  });

  test("what is too much is left out in whole lines, and counted", () => {
    const current = { user: "a\nbbbbbbbbbb\nc\nd\n", workspace: snapshot.workspace };
    const before = { user: "", workspace: snapshot.workspace };
    const limits = { linesMax: 2, charactersMax: 10 };
    expect(describeMemoryChange(before, current, limits)?.split("\n").slice(2)).toEqual([
      "USER.md: 4 lines added, 0 lines removed.",
      "+ a",
      "+ c",
      "(2 of 4 changed lines are not shown.)",
    ]);
  });
});

test("the text stays within its limits for any two states of memory", () => {
  const file = fc
    .array(fc.string({ maxLength: 300 }), { maxLength: 100 })
    .map((all) => all.join("\n"));
  const texts = fc.record({ user: file, workspace: file });
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const text = describeMemoryChange(before, after) ?? "";
      // Two files of 4,000 characters, 40 line ends each, and the surrounding sentences.
      expect(text.length).toBeLessThan(2 * (4000 + 40) + 400);
    }),
  );
});
