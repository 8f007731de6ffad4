// What Tab adds to the typed line: the rest of a command, of a model's name, or of a file's path after @.

export type ToComplete =
  | { readonly kind: "command"; readonly word: string }
  | { readonly kind: "model"; readonly word: string }
  /** `folder` ends with a slash, or is empty for the workspace itself. */
  | { readonly kind: "file"; readonly folder: string; readonly word: string }
  | { readonly kind: "nothing" };

/** Looks only at the text before the cursor. */
export function readToComplete(text: string, cursor: number): ToComplete {
  const head = text.slice(0, cursor);
  const command = /^\/([a-z]*)$/i.exec(head);
  if (command !== null) return { kind: "command", word: command[1] ?? "" };
  const model = /^\/model\s+(\S*)$/i.exec(head);
  if (model !== null) return { kind: "model", word: model[1] ?? "" };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(head);
  if (file === null) return { kind: "nothing" };
  const path = file[1] ?? "";
  const end = path.lastIndexOf("/") + 1;
  return { kind: "file", folder: path.slice(0, end), word: path.slice(end) };
}

export interface Completion {
  /** What is added at the cursor. */
  readonly text: string;
  /** The choices that are left, on one line; empty for none. */
  readonly hint: string;
}

/** One candidate is completed; of several, what they share. A candidate that ends with a slash goes on. */
export function complete(word: string, candidates: readonly string[]): Completion {
  const fitting = candidates.filter((each) => each.startsWith(word));
  const [first, ...others] = fitting;
  if (first === undefined)
    return { text: "", hint: word === "" ? "" : `nothing begins with ${word}` };
  if (others.length === 0)
    return { text: `${first.slice(word.length)}${first.endsWith("/") ? "" : " "}`, hint: "" };
  const shared = others.reduce(sharedStart, first);
  return { text: shared.slice(word.length), hint: fitting.join("  ") };
}

function sharedStart(left: string, right: string): string {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  const start = left.slice(0, length);
  return start.isWellFormed() ? start : start.slice(0, -1);
}
