// Finds the reader of a file by its first lines, never by its name.
import type { Fields } from "../../core/message/fields.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { CreateReader } from "./line-reader.ts";
import { createClaudeCodeReader, isClaudeCode } from "./read-claude-code.ts";
import { createCodexReader, isCodex } from "./read-codex.ts";
import { createCtxKvReader, isCtxKv } from "./read-ctx-kv.ts";
import { createCtxTraceReader, isCtxTrace } from "./read-ctx-trace.ts";
import { createPiReader, isPi } from "./read-pi.ts";
import { createRequestLogReader, isRequestLog } from "./read-request-log.ts";

interface Format {
  /** Whether no other format has such a line. */
  readonly isLine: (line: Fields, protocols?: readonly Protocol[]) => boolean;
  readonly create: CreateReader;
}

const formats: readonly Format[] = [
  { isLine: isCtxTrace, create: createCtxTraceReader },
  { isLine: isCtxKv, create: createCtxKvReader },
  { isLine: isCodex, create: createCodexReader },
  { isLine: isPi, create: createPiReader },
  { isLine: isClaudeCode, create: createClaudeCodeReader },
  { isLine: isRequestLog, create: createRequestLogReader },
];

/** Undefined where the line could be of any format. */
export function detectFormat(
  line: Fields,
  protocols?: readonly Protocol[],
): CreateReader | undefined {
  return formats.find(({ isLine }) => isLine(line, protocols))?.create;
}
