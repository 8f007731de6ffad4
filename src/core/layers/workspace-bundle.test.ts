import { describe, expect, test } from "vitest";
import { hashContent } from "../hash.ts";
import { toSections } from "./to-sections.ts";
import {
  toBundle,
  toContextParts,
  toWorkspaceNote,
  type ReadDocument,
  type WorkspaceBundle,
  type WorkspaceFileKind,
} from "./workspace-bundle.ts";

const limits = { fileBytesMax: 2000, totalBytesMax: 3000 };

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
      "MEMORY.md",
      "a.md",
      "z.md",
    ]);
  });

  test("shows as much of a document as its limit allows, then as much as is left for all", () => {
    const bundle = bundleOf([
      document("agents", "AGENTS.md", "r".repeat(5000)),
      document("user", "USER.md", "likes tea"),
      document("document", "big.md", "d".repeat(2000)),
      document("document", "late.md", "l".repeat(500)),
    ]);
    expect(bundle.notices).toEqual([
      { kind: "cut", path: "AGENTS.md", detail: "3126 of 5000 bytes are left out" },
      { kind: "cut", path: "big.md", detail: "1146 of 2000 bytes are left out" },
      { kind: "cut", path: "late.md", detail: "500 of 500 bytes are left out" },
    ]);
    expect(bundle.files.map(({ text }) => text.length)).toEqual([2000, 9, 991, 129]);
    expect(bundle.files[3]?.text).toBe(
      "[All 500 bytes of late.md are left out here: the workspace's documents may have 3000 bytes together. Read the file for the rest.]",
    );
  });

  test("a longer document never changes how much is shown of one before it", () => {
    const rules = document("agents", "AGENTS.md", "r".repeat(1900));
    const [small, large] = [10, 5000].map((bytes) =>
      bundleOf([rules, document("document", "a.md", "a".repeat(bytes))]),
    );
    expect(large?.files[0]).toEqual(small?.files[0]);
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
