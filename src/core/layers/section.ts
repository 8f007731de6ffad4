// Workspace, persona, environment, event → sections with a stability.

import type { Lifetime } from "../message/usage.ts";

/** How long a section stays the same: across sessions, within one session, or for one call. */
export type Stability = "static" | "session" | "turn";

export type Layer = "workspace" | "persona" | "session" | "memory" | "event";

export interface Section {
  readonly name: string;
  readonly layer: Layer;
  readonly stability: Stability;
  readonly text: string;
  /** How long the provider should keep the prompt up to here; the policy decides by default. */
  readonly lifetime?: Lifetime;
}

/** White space alone does not count. */
export function hasText(section: Section): boolean {
  return section.text.trim() !== "";
}
