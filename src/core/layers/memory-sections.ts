// The two memory files as sections (S-11): a snapshot for the session, or fresh on every call.
import { hasText, type Section, type Stability } from "./section.ts";

/** The text of the two files; blank for a file that is empty or not there. */
export interface MemoryTexts {
  /** A USER.md for all workspaces, which no tool of a session writes; missing where none is wanted. */
  readonly globalUser?: string;
  /** USER.md */
  readonly user: string;
  /** MEMORY.md */
  readonly workspace: string;
}

/** What is known of the user everywhere, then USER.md, then MEMORY.md, each under its heading; empty files fall out. */
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

/** Told apart from the workspace's own: consolidating that one must not take this one's lines into it. */
export const globalUserName = "all workspaces (global USER.md)";

function toSection(name: string, heading: string, text: string, stability: Stability): Section {
  const trimmed = text.trim();
  const body = trimmed === "" ? "" : `## ${heading}\n\n${trimmed}`;
  return { name, layer: "memory", stability, text: body };
}
