// The lines of a reply as they stream in: what a line is depends on the fence or the table it stands in.
import type { Fence, Item } from "./state.ts";

export type AnswerLine = Extract<Item, { readonly kind: "answer" }>;

/** The items with one more line. Rows of a table are one item, because its columns are known only at its end. */
export function addLine(
  items: readonly Item[],
  text: string,
  how: Pick<AnswerLine, "isOpen" | "isFirst">,
): readonly Item[] {
  const before = how.isFirst ? null : lastLine(items);
  const fence = before?.fence ?? null;
  const line = readLine(text, fence);
  // A row that is still being written is text.
  const isRow = line.shape === "table" && !how.isOpen;
  const added: AnswerLine = {
    kind: "answer",
    text,
    ...how,
    ...line,
    ...(isRow ? {} : notRow(line)),
  };
  if (before?.shape !== "table" || !before.isOpen) {
    return [...items, isRow ? { ...added, isOpen: true } : added];
  }
  const others = items.slice(0, -1);
  if (isRow) return [...others, { ...before, text: `${before.text}\n${text}` }];
  const mayBeRow = how.isOpen && /^\s*(?:\||$)/.test(text);
  return [...others, mayBeRow ? before : { ...before, isOpen: false }, added];
}

function notRow({ shape }: Pick<AnswerLine, "shape">): Pick<AnswerLine, "shape"> {
  return { shape: shape === "table" ? "text" : (shape ?? "text") };
}

function lastLine(items: readonly Item[]): AnswerLine | null {
  const last = items.at(-1);
  return last?.kind === "answer" ? last : null;
}

function readLine(
  text: string,
  fence: Fence | null,
): Pick<AnswerLine, "shape"> & { readonly fence: Fence | null; readonly language?: string } {
  const mark = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/.exec(text.trimEnd());
  const marker = mark?.[1] ?? "";
  if (fence !== null) {
    const isEnd = marker.startsWith(fence.marker) && (mark?.[2] ?? "").trim() === "";
    return isEnd
      ? { shape: "fence", fence: null, language: fence.language }
      : { shape: "code", fence, language: fence.language };
  }
  if (marker !== "") {
    const language = (mark?.[2] ?? "").trim().split(/\s+/)[0] ?? "";
    return { shape: "fence", fence: { marker, language }, language };
  }
  return { shape: /^\s*\|.*\|\s*$/.test(text) ? "table" : "text", fence: null };
}
