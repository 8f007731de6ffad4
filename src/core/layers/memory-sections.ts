// The two memory files as sections: a snapshot for the session, or fresh on every call.
import { hasText, type Section, type Stability } from "./section.ts";

/** The texts of the memory files. Blank for an empty or absent file. */
export interface MemoryTexts {
  /** A USER.md for all workspaces, which no session tool writes. Absent if not wanted. */
  readonly globalUser?: string;
  /** USER.md */
  readonly user: string;
  /** MEMORY.md */
  readonly workspace: string;
}

/** The global USER.md, USER.md and MEMORY.md, each under its heading. Empty files have no section. */
export function memorySections(
  { globalUser = "", user, workspace }: MemoryTexts,
  stability: Extract<Stability, "session" | "turn">,
): Section[] {
  return [
    toSection(
      "user context everywhere",
      `User context of ${globalUserName}`,
      globalUser,
      stability,
    ),
    toSection("user context", "User context (USER.md)", user, stability),
    toSection("workspace memory", "Workspace memory (MEMORY.md)", workspace, stability),
  ].filter(hasText);
}

/** Kept separate from the workspace's own file: consolidating that one must not absorb these lines. */
export const globalUserName = "all workspaces (global USER.md)";

function toSection(name: string, heading: string, text: string, stability: Stability): Section {
  const trimmed = text.trim();
  const body = trimmed === "" ? "" : `## ${heading}\n\n${trimmed}`;
  return { name, layer: "memory", stability, text: body };
}
