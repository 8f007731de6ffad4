import { describe, expect, test } from "vitest";
import { StrataError } from "../strata-error.ts";
import type { Section } from "./section.ts";
import { toSections, type ContextParts } from "./to-sections.ts";

const everything: ContextParts = {
  role: "manager",
  workspaceRules: "# AGENTS\n\nBe brief.\n",
  userIdentity: "Ada, Berlin",
  persona: { identity: "You are Atlas.", soul: "Calm." },
  permissions: ["files.write", "files.read", "files.write"],
  environment: "## Environment\n\nCredentials: 2 configured",
  skillIndex: "## Skills\n\n- pdf: Reads.",
  runtime: { host: "box", os: "linux", arch: "x64" },
  date: "2026-11-15",
  contextFiles: [
    { path: "README.md", text: "Read me.\n" },
    { path: "docs/a.md", text: "A" },
  ],
  memory: { user: "Likes tea.", workspace: "Uses npm." },
};

describe("sections", () => {
  test("sections come in the order that changes least first, each with its layer and stability", () => {
    expect(
      toSections(everything).map(({ name, layer, stability }) => `${stability} ${layer}: ${name}`),
    ).toEqual([
      "static workspace: workspace rules",
      "static persona: user identity",
      "static persona: identity",
      "static persona: soul",
      "static persona: permissions",
      "static workspace: environment",
      "static workspace: skills",
      "static persona: role rules",
      "session session: runtime",
      "session session: date",
      "session session: file README.md",
      "session session: file docs/a.md",
      "session memory: user context",
      "session memory: workspace memory",
    ]);
  });

  test("what others wrote is taken as it is; what we add has a heading", () => {
    const texts = toSections(everything).map(({ text }) => text);
    expect(texts.filter((_, index) => index !== 7)).toEqual([
      "# AGENTS\n\nBe brief.",
      "## User identity\n\nAda, Berlin",
      "You are Atlas.",
      "Calm.",
      "## Permissions\n\n- files.read\n- files.write",
      "## Environment\n\nCredentials: 2 configured",
      "## Skills\n\n- pdf: Reads.",
      "## Runtime\n\nHost: box\nOperating system: linux\nArchitecture: x64",
      "This session started on 2026-11-15.",
      "## README.md\n\nRead me.",
      "## docs/a.md\n\nA",
      "## User context (USER.md)\n\nLikes tea.",
      "## Workspace memory (MEMORY.md)\n\nUses npm.",
    ]);
  });

  test("missing and blank parts have no section", () => {
    expect(toSections({})).toEqual([]);
    const blank: ContextParts = {
      workspaceRules: " \n",
      userIdentity: "",
      persona: { identity: null, soul: "\t" },
      permissions: [],
      environment: null,
      skillIndex: null,
      runtime: { host: "", os: " ", arch: "" },
      date: "",
      contextFiles: [{ path: "empty.md", text: "\n" }],
      memory: { user: "", workspace: "\n" },
    };
    expect(toSections(blank)).toEqual([]);
  });

  test("a role has rules in the prompt only where it was asked for", () => {
    expect(toSections({ role: "unified" }).map(({ name }) => name)).toEqual(["role rules"]);
    expect(toSections({ workspaceRules: "Be brief." }).map(({ name }) => name)).toEqual([
      "workspace rules",
    ]);
  });

  test("nothing of the machine, the day or memory is static", () => {
    const elsewhere: ContextParts = {
      ...everything,
      runtime: { host: "other", os: "darwin", arch: "arm64" },
      date: "2027-01-01",
      contextFiles: [],
      memory: { user: "", workspace: "New." },
    };
    expect(staticSectionsOf(elsewhere)).toEqual(staticSectionsOf(everything));
  });

  test("the order in which permissions were granted does not show", () => {
    const granted = { ...everything, permissions: ["files.read", "files.write"] };
    expect(toSections(granted)).toEqual(toSections(everything));
  });

  test("a time of day is refused as a date, since it would change the prefix (H-09)", () => {
    for (const date of ["2026-11-15T10:00:00Z", "15 November", "2026-11-15 10:00"]) {
      expect(() => toSections({ role: "manager", date })).toThrow(StrataError);
    }
  });
});

function staticSectionsOf(parts: ContextParts): Section[] {
  return toSections(parts).filter(({ stability }) => stability === "static");
}
