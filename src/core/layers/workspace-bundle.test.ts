import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashContent } from "../hash.ts";
import { toSections } from "./to-sections.ts";
import { workspaceFileKinds, type WorkspaceFileKind, type ReadDocument } from "./workspace-file.ts";
import {
  toBundle,
  toContextParts,
  toWorkspaceNote,
  type WorkspaceBundle,
} from "./workspace-bundle.ts";

const limits = { fileBytesMax: 2000, totalBytesMax: 5000 };

describe("a bundle", () => {
  test("has its documents in the order that changes least first, further ones by path", () => {
    const bundle = bundleOf([
      document("document", "z.md", "Z"),
      document("memory", "MEMORY.md", "M"),
      document("document", "a.md", "A"),
      document("soul", "SOUL.md", "S"),
      document("agents", "AGENTS.md", "R"),
    ]);
    expect(bundle.files.map(({ path }) => path)).toEqual([
      "AGENTS.md",
      "SOUL.md",
      "a.md",
      "z.md",
      "MEMORY.md",
    ]);
  });

  test("shows as much of a document as its limit allows, then as much as is left for all", () => {
    const bundle = bundleOf([
      document("agents", "AGENTS.md", "r".repeat(5000)),
      document("document", "big.md", "d".repeat(3000)),
      document("document", "late.md", "l".repeat(500)),
      document("user", "USER.md", "likes tea"),
    ]);
    expect(bundle.notices).toEqual([
      { kind: "cut", path: "AGENTS.md", detail: "3126 of 5000 bytes are left out" },
      { kind: "cut", path: "big.md", detail: "2437 of 3000 bytes are left out" },
      { kind: "cut", path: "late.md", detail: "500 of 500 bytes are left out" },
    ]);
    expect(bundle.files.map(({ text }) => text.length)).toEqual([2000, 700, 109, 9]);
    expect(bundle.files[2]?.text).toBe(
      "[late.md is left out here: the workspace's documents may have 5000 bytes together. Read what you need of it.]",
    );
  });

  test("a longer document never changes how much is shown of one before it", () => {
    const rules = document("agents", "AGENTS.md", "r".repeat(1900));
    const [small, large] = [10, 5000].map((bytes) =>
      bundleOf([rules, document("document", "a.md", "a".repeat(bytes))]),
    );
    expect(large?.files[0]).toEqual(small?.files[0]);
  });

  test("one more memory entry changes nothing of the prompt before memory, also where room is short", () => {
    const documents = [
      document("agents", "AGENTS.md", "r".repeat(1900)),
      document("document", "a.md", "a".repeat(1900)),
      document("document", "b.md", "b".repeat(1900)),
    ];
    const [one, two, none] = ["one\n", `one\n${"two ".repeat(300)}\n`, null].map((memory) => {
      const kept = memory === null ? [] : [document("memory", ".strata/MEMORY.md", memory)];
      return toSections({
        role: "unified",
        ...toContextParts(bundleOf([...documents, ...kept])),
      }).filter(({ layer }) => layer !== "memory");
    });
    expect(two).toEqual(one);
    expect(none).toEqual(one);
  });

  test("memory has its room, however long the other documents are", () => {
    const bundle = bundleOf([
      document("agents", "AGENTS.md", "r".repeat(9000)),
      document("document", "a.md", "a".repeat(9000)),
      document("user", "USER.md", "u".repeat(9000)),
      document("memory", "MEMORY.md", "m".repeat(900)),
    ]);
    expect(bundle.files.at(-1)).toMatchObject({ kind: "memory", bytesLeftOut: 0 });
  });

  test("the limit for all holds for three thousand documents: one line stands for those without room", () => {
    const many = Array.from({ length: 3000 }, (_, index) =>
      document("document", `d${1000 + index}.md`, "text ".repeat(20)),
    );
    const bundle = bundleOf([...many, document("memory", "MEMORY.md", "m".repeat(9000))]);
    expect(totalOf(bundle)).toBeLessThanOrEqual(limits.totalBytesMax);
    const shown = bundle.files.filter(({ text }) => text !== "");
    expect(shown.at(-2)?.text).toMatch(/^\[2973 documents, from d1027\.md on, are left out here: /);
    expect(bundle.notices.filter(({ kind }) => kind === "cut")).toHaveLength(2974);
  });

  test("the limit for all holds for any documents", () => {
    const kinds = fc.constantFrom(...workspaceFileKinds);
    const any = fc.record({
      kind: kinds,
      path: fc.string({ minLength: 1, maxLength: 300 }),
      size: fc.integer({ min: 0, max: 4000 }),
    });
    fc.assert(
      fc.property(
        fc.array(any, { maxLength: 40 }),
        fc.integer({ min: 1000, max: 9000 }),
        (all, max) => {
          const documents = all.map(({ kind, path, size }) =>
            document(kind, isFixed(kind) ? "MEMORY.md" : path, "é".repeat(size)),
          );
          const single = documents.filter(
            ({ kind }, index) =>
              !isFixed(kind) || documents.findIndex((each) => each.kind === kind) === index,
          );
          const parts = { root: "/w", scope: "main", documents: single, notices: [] } as const;
          const bundle = toBundle({ ...parts, limits: { fileBytesMax: 2000, totalBytesMax: max } });
          expect(totalOf(bundle)).toBeLessThanOrEqual(max);
        },
      ),
    );
  });

  test("rules that are kept under both names are shown once", () => {
    const bundle = bundleOf([
      document("claude", "CLAUDE.md", "Be brief."),
      document("agents", "AGENTS.md", "Be brief."),
    ]);
    expect(bundle.files.map(({ path }) => path)).toEqual(["AGENTS.md"]);
    expect(bundle.notices).toEqual([
      { kind: "repeated", path: "CLAUDE.md", detail: "says the same as AGENTS.md" },
    ]);
  });

  test("rules of which only the beginning was read are not called the same", () => {
    const part = { ...document("agents", "AGENTS.md", "Be brief."), bytes: 90, bytesUnread: 81 };
    const longer = {
      ...part,
      kind: "claude",
      path: "CLAUDE.md",
      bytes: 95,
      bytesUnread: 86,
    } as const;
    const whole = document("claude", "CLAUDE.md", "Be brief.");
    for (const other of [longer, { ...longer, bytes: 90, bytesUnread: 81 }, whole]) {
      expect(bundleOf([part, other]).files.map(({ path }) => path)).toEqual([
        "AGENTS.md",
        "CLAUDE.md",
      ]);
    }
  });

  test("has the same hash for the same texts, and another in another scope", () => {
    const documents = [document("agents", "AGENTS.md", "Be brief.")];
    expect(bundleOf(documents).hash).toBe(bundleOf(documents).hash);
    expect(bundleOf(documents, "shared").hash).not.toBe(bundleOf(documents).hash);
    expect(bundleOf([document("agents", "AGENTS.md", "Be long.")]).hash).not.toBe(
      bundleOf(documents).hash,
    );
  });
});

test("X-02: a bundle becomes the sections of a session", () => {
  const bundle = bundleOf([
    document("agents", "AGENTS.md", "Answer briefly.\n"),
    document("claude", "CLAUDE.md", "Use npm.\n"),
    document("identity", "IDENTITY.md", "Name: Ada"),
    document("soul", "SOUL.md", "Kind."),
    document("user", ".strata/USER.md", "Likes tea."),
    document("memory", ".strata/MEMORY.md", "The port is 8080."),
    document("document", "docs/api.md", "GET /health"),
  ]);
  const sections = toSections({ role: "worker", ...toContextParts(bundle) });
  expect(
    sections
      .filter(({ name }) => name !== "role rules")
      .map(({ name, stability, text }) => [name, stability, text]),
  ).toEqual([
    ["workspace rules", "static", "Answer briefly.\n\nUse npm."],
    ["identity", "static", "Name: Ada"],
    ["soul", "static", "Kind."],
    ["file docs/api.md", "session", "## docs/api.md\n\nGET /health"],
    ["user context", "session", "## User context (USER.md)\n\nLikes tea."],
    ["workspace memory", "session", "## Workspace memory (MEMORY.md)\n\nThe port is 8080."],
  ]);
});

test("an empty workspace has no sections", () => {
  const sections = toSections({ role: "unified", ...toContextParts(bundleOf([])) });
  expect(sections.filter(({ name }) => name !== "role rules")).toEqual([]);
});

test("X-22: what is recorded of a bundle is hashes and sizes, no content", () => {
  const bundle = bundleOf([document("soul", "SOUL.md", "Kind.")]);
  expect(toWorkspaceNote(bundle)).toEqual({
    hash: bundle.hash,
    scope: "main",
    files: [
      {
        kind: "soul",
        path: "SOUL.md",
        hash: hashContent("Kind."),
        bytes: 5,
        bytesLeftOut: 0,
      },
    ],
  });
});

function bundleOf(
  documents: readonly ReadDocument[],
  scope: "main" | "shared" = "main",
): WorkspaceBundle {
  return toBundle({ root: "/w", scope, documents, notices: [], limits });
}

function document(kind: WorkspaceFileKind, path: string, text: string): ReadDocument {
  const bytes = Buffer.byteLength(text);
  return { kind, path, text, hash: hashContent(text), bytes, bytesUnread: 0 };
}

function totalOf({ files }: WorkspaceBundle): number {
  return files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}

/** There is one of each, under a fixed name. */
function isFixed(kind: WorkspaceFileKind): boolean {
  return kind === "user" || kind === "memory";
}
