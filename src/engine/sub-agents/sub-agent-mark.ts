// Marks a session as a sub-agent. Stored with the session's notes, so that a resumed sub-agent keeps its limits.
import { hashContent } from "../../core/hash.ts";
import { countBytes } from "../../core/layers/cut-middle.ts";
import { subAgentKinds, type SubAgentKind } from "../../edge/tools/delegate-tool.ts";
import type { SectionNote, Session } from "../../core/session/session.ts";

export interface SubAgentMark {
  readonly kind: SubAgentKind;
  /** Names of toolsets, the parents' first. It may use only tools that are in all of them. */
  readonly toolsets: readonly string[];
  /** 1 for a sub-agent of a person's agent. */
  readonly depth: number;
}

export const markName = "sub-agent";

/** The mark in the form of a session's other notes. */
export function toMarkNote(mark: SubAgentMark): SectionNote {
  const text = JSON.stringify(mark);
  const size = { hash: hashContent(text), bytes: countBytes(text) };
  return { name: markName, layer: "session", ...size, note: mark };
}

/** Null for a session that is not a sub-agent. The last mark counts: a fork also has its origin's. */
export function findMark({ madeOf }: Pick<Session, "madeOf">): SubAgentMark | null {
  const note = madeOf.findLast(({ name }) => name === markName)?.note;
  if (note === undefined || !("depth" in note) || typeof note.depth !== "number") return null;
  const known = subAgentKinds.find((kind) => "kind" in note && note.kind === kind);
  const names: unknown = "toolsets" in note ? note.toolsets : [];
  const toolsets = Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
  return known === undefined ? null : { kind: known, toolsets, depth: note.depth };
}
