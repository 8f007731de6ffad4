// A settings file as text: one setting is read, set or removed, and every other byte stays.

export interface TextFormat {
  /** What stands at the path; undefined for nothing. Throws a `StrataError` where the text cannot be read. */
  read(text: string, path: readonly string[]): unknown;
  /** The text with a value there; undefined removes it. */
  set(text: string, path: readonly string[], value: unknown): string;
}

/** What ends a line in this text. */
export function lineEndOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}
