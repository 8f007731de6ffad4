// Figures and texts of a ledger for people, and its records for machines.
import type { CommandInput, Io } from "../command.ts";

/** Prints the result of a command that succeeded, with --json its value. Returns the exit status. */
export function printResult(
  { switches }: CommandInput,
  { out }: Io,
  { value, text }: { readonly value: unknown; readonly text: string },
): number {
  out(switches.has("json") ? toJsonLine(value) : text);
  return 0;
}

/** Writes bigint pico-dollars as text, and escapes terminal control characters. */
export function toJsonLine(value: unknown): string {
  const text = JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "bigint" ? String(each) : each,
  );
  return `${toSafeJson(text)}\n`;
}

/** The same JSON with terminal control characters escaped. */
export function toSafeJson(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export function formatTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace("T", " ");
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(2)} GB`;
}

/** Makes control characters visible, because output of tools and models may contain terminal commands. Keeps line breaks. */
export function toPrintable(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, spell);
}

function spell(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/** On one line; a long text is cut and ends with the number of missing characters. */
export function toShort(text: string, most: number): string {
  const line = toPrintable(text.replace(/\s+/g, " ").trim());
  if (line.length <= most) return line;
  const end = /[\ud800-\udbff]/.test(line.charAt(most - 1)) ? most - 1 : most;
  return `${line.slice(0, end)}… (${line.length - end} more)`;
}
