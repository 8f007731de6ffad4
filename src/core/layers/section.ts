// Workspace, persona, environment, event → sections with a stability.

/** How long a section stays as it is: the same in every session, frozen at session start, or new on any call. */
export type Stability = "static" | "session" | "turn";

/** Where a section comes from. */
export type Layer = "workspace" | "persona" | "session" | "memory" | "event";

export interface Section {
  readonly name: string;
  readonly layer: Layer;
  readonly stability: Stability;
  readonly text: string;
}

/** White space alone counts as nothing. */
export function hasText(section: Section): boolean {
  return section.text.trim() !== "";
}
