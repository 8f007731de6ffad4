// Finds the notes of an earlier compaction in a thread, so that the next one carries them on.
import type { Message } from "../../message/message.ts";
import type { HistoryMessage } from "../history.ts";
import { notesMarkers } from "./notes-markers.ts";

/** The text of the leading notes. Null if there are none. Text that only looks like notes does not count. */
export function previousNotes(history: readonly HistoryMessage[]): string | null {
  const notes = history.filter(({ compactionPart }) => compactionPart === "notes");
  if (notes.length === 0) return null;
  const texts = notes.flatMap(({ message }) => [
    // A provider's own summary stands before ours.
    ...message.content.flatMap((block) => (block.type === "compaction" ? [block.content] : [])),
    readNotesMessage(message)?.text,
  ]);
  return texts.filter((text) => text != null && text.trim() !== "").join("\n\n");
}

export interface ToldNotes {
  readonly kind: "summary" | "outline";
  /** The summary or outline itself. */
  readonly text: string;
  /** Empty for none, like the texts below. */
  readonly wordsText: string;
  readonly indexText: string;
  /** The lines that name skills, unchanged. */
  readonly skillsText: string;
}

/** Reads a message that is known to be a compaction's. Null if it does not hold notes. */
export function readNotesMessage({ role, content }: Message): ToldNotes | null {
  const [block, ...more] = content;
  if (role !== "user" || block?.type !== "text" || more.length > 0) return null;
  const lines = block.text.split("\n");
  if (lines[0] !== notesMarkers.start || lines.at(-1) !== notesMarkers.end) return null;
  const summary = partOf(lines, notesMarkers.summary);
  const outline = partOf(lines, notesMarkers.outline);
  return {
    kind: summary === null && outline !== null ? "outline" : "summary",
    text: summary ?? outline ?? "",
    wordsText: partOf(lines, notesMarkers.words) ?? "",
    indexText: partOf(lines, notesMarkers.index) ?? "",
    skillsText: partOf(lines, notesMarkers.skills) ?? "",
  };
}

function partOf(lines: readonly string[], marker: string): string | null {
  const from = lines.indexOf(marker);
  if (from === -1) return null;
  const rest = lines.slice(from + 1);
  const to = rest.findIndex((line) => markers.has(line));
  return rest.slice(0, to).join("\n").trim();
}

const markers: ReadonlySet<string> = new Set(Object.values(notesMarkers));
