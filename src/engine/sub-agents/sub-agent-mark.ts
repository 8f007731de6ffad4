// What a session is to whoever asked for it: kept with what it was made of, so that whoever resumes it knows its limits.
import { hashContent } from "../../core/hash.ts";
import { countBytes } from "../../core/layers/cut-middle.ts";
import { subAgentKinds, type SubAgentKind } from "../../edge/tools/delegate-tool.ts";
import type { SectionNote, Session } from "../../core/session/session.ts";

export interface SubAgentMark {
  readonly kind: SubAgentKind;
  /** By their names, those of whoever asked first: it may use what is in all of them, and of the rest nothing. */
  readonly toolsets: readonly string[];
  /** 1 for one that an agent of a person asked for. */
  readonly depth: number;
}

export const markName = "sub-agent";

/** As a session's other notes are kept. */
export function toMarkNote(mark: SubAgentMark): SectionNote {
  const text = JSON.stringify(mark);
  const size = { hash: hashContent(text), bytes: countBytes(text) };
  return { name: markName, layer: "session", ...size, note: mark };
}

/** Null for a session nobody's tool asked for. The last one counts: a fork has its origin's, too. */
export function findMark({ madeOf }: Pick<Session, "madeOf">): SubAgentMark | null {
  const note = madeOf.findLast(({ name }) => name === markName)?.note;
  if (note === undefined || !("depth" in note) || typeof note.depth !== "number") return null;
  const known = subAgentKinds.find((kind) => "kind" in note && note.kind === kind);
  const names: unknown = "toolsets" in note ? note.toolsets : [];
  const toolsets = Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
  return known === undefined ? null : { kind: known, toolsets, depth: note.depth };
}
