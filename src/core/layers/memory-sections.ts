// The two memory files as sections (S-11): a snapshot for the session, or fresh on every call.
import { hasText, type Section, type Stability } from "./section.ts";

/** The text of the two files; blank for a file that is empty or not there. */
export interface MemoryTexts {
  /** USER.md */
  readonly user: string;
  /** MEMORY.md */
  readonly workspace: string;
}

/** USER.md, then MEMORY.md, each under its heading; empty files fall out. */
export function memorySections(
  { user, workspace }: MemoryTexts,
  stability: Extract<Stability, "session" | "turn">,
): Section[] {
  return [
    toSection("user context", "User context (USER.md)", user, stability),
    toSection("workspace memory", "Workspace memory (MEMORY.md)", workspace, stability),
  ].filter(hasText);
}

function toSection(name: string, heading: string, text: string, stability: Stability): Section {
  const trimmed = text.trim();
  const body = trimmed === "" ? "" : `## ${heading}\n\n${trimmed}`;
  return { name, layer: "memory", stability, text: body };
}
