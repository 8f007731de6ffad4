// Finds the reader of a file by its first lines, never by its name.
import type { Fields } from "../../core/message/fields.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { CreateReader } from "./line-reader.ts";
import { createClaudeCodeReader, isClaudeCode } from "./read-claude-code.ts";
import { createCodexReader, isCodex } from "./read-codex.ts";
import {
  createCtxKvReader,
  createPublishedKvReader,
  isCtxKv,
  isPublishedKv,
} from "./ctx/read-ctx-kv.ts";
import { createCtxTraceReader, isCtxTrace } from "./ctx/read-ctx-trace.ts";
import { createGeminiCliReader, isGeminiCli } from "./read-gemini-cli.ts";
import { createAiSdkReader, isAiSdk } from "./read-ai-sdk.ts";
import { createLangChainReader, isLangChain } from "./read-langchain.ts";
import { createHermesReader, isHermes } from "./read-hermes.ts";
import { createOpencodeReader, isOpencode } from "./opencode/read-opencode.ts";
import { createOtelReader, isOtel } from "./otel/read-otel.ts";
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
  { isLine: isPublishedKv, create: createPublishedKvReader },
  { isLine: isOtel, create: createOtelReader },
  { isLine: isGeminiCli, create: createGeminiCliReader },
  { isLine: isOpencode, create: createOpencodeReader },
  { isLine: isHermes, create: createHermesReader },
  { isLine: isLangChain, create: createLangChainReader },
  { isLine: isAiSdk, create: createAiSdkReader },
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
