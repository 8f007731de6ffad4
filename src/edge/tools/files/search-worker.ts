// Runs regular expressions in a separate thread, so that one that backtracks for hours can be killed.
import type { MessagePort } from "node:worker_threads";

export interface SearchOrder {
  /** Sets the pattern for the following texts. */
  readonly pattern?: { readonly source: string; readonly flags: string };
  readonly texts?: readonly Uint8Array[];
  /** The limit of matching lines over all texts of this order. */
  readonly linesMax?: number;
}

export interface SearchAnswer {
  /** The engine's message if the pattern is invalid. */
  readonly problem?: string;
  /** The matching lines of each text. Null if it is not text. */
  readonly found?: readonly (readonly LineFound[] | null)[];
}

export interface LineFound {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** Self-contained: the thread runs this function's text, so it must not use anything from outside. */
export function serveSearch(port: MessagePort): void {
  const lineCharactersMax = 500;
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let expression = /(?:)/u;

  function compile(source: string, flags: string): void {
    try {
      expression = new RegExp(source, `${flags}u`);
    } catch {
      // Escapes that Unicode mode rejects, such as \-, are common and harmless.
      expression = new RegExp(source, flags);
    }
  }

  function decode(bytes: Uint8Array): string | null {
    try {
      return bytes.includes(0) ? null : decoder.decode(bytes);
    } catch {
      return null;
    }
  }

  /** Shows a long line from a little before its match. */
  function show(line: string, at: number): string {
    if (line.length <= lineCharactersMax) return line;
    const start = Math.max(0, Math.min(at - 100, line.length - lineCharactersMax));
    const end = start + lineCharactersMax;
    const text = line.slice(start, end).toWellFormed();
    return `${start > 0 ? "…" : ""}${text}${end < line.length ? "…" : ""}`;
  }

  function search(text: string, linesMax: number): { number: number; text: string }[] {
    const lines: { number: number; text: string }[] = [];
    let number = 1;
    for (let start = 0; start < text.length && lines.length < linesMax; number += 1) {
      const end = text.indexOf("\n", start);
      const next = end === -1 ? text.length : end;
      const line = text.slice(start, text[next - 1] === "\r" && next > start ? next - 1 : next);
      const match = expression.exec(line);
      if (match !== null) lines.push({ number, text: show(line, match.index) });
      start = next + 1;
    }
    return lines;
  }

  port.on("message", ({ pattern, texts, linesMax = 0 }: SearchOrder) => {
    try {
      if (pattern !== undefined) compile(pattern.source, pattern.flags);
    } catch (error) {
      port.postMessage({ problem: error instanceof Error ? error.message : String(error) });
      return;
    }
    let room = linesMax;
    const found = (texts ?? []).map((bytes) => {
      const text = decode(bytes);
      const lines = text === null ? null : search(text, room);
      room -= lines?.length ?? 0;
      return lines;
    });
    port.postMessage({ found });
  });
}
