// Raw request logs: each line a whole request as it was sent, told as what changed since the one before.
import { hashContent } from "../../core/hash.ts";
import type { Usage } from "../../core/message/usage.ts";
import { readUsage } from "../../core/wire/anthropic-messages/usage.ts";
import { readChatUsage } from "../../core/wire/openai/chat/usage.ts";
import { readResponsesUsage } from "../../core/wire/openai/responses/usage.ts";
import { isObject } from "../../core/message/fields.ts";
import { textIn, type Fields } from "../../core/message/fields.ts";
import type { ProtocolName } from "../../core/wire/protocol.ts";
import type { Recorded } from "../recording.ts";
import { tokenizerOf } from "./block-draft.ts";
import { skip, type LineReader, type Source } from "./line-reader.ts";
import { draftBody, type DraftedBody } from "./request-body.ts";
import { readRequestLine, type RequestLine } from "./request-line.ts";
import {
  createThreadHistory,
  markersOf,
  toRecordedBlocks,
  type ThreadHistory,
} from "./thread-history.ts";

export function isRequestLog(line: Fields): boolean {
  return readRequestLine(line) !== undefined;
}

/** A log may hold any number of threads; one that was not seen for so many others starts anew. */
const threadsMax = 64;

interface LogState {
  /** A session for each wire, since a session has one. */
  readonly sessions: Map<ProtocolName, string>;
  /** By thread name, the one used last at the end. */
  readonly threads: Map<string, ThreadHistory>;
  /** What the main thread is known by. */
  mainKey: string | null;
}

export function createRequestLogReader(source: Source): LineReader {
  const state: LogState = { sessions: new Map(), threads: new Map(), mainKey: null };
  return {
    read(line, number) {
      const request = readRequestLine(line);
      const problem = request === undefined ? "it holds no request" : problemOf(request);
      if (request === undefined || problem !== null) {
        return [skip(source.file, number, problem ?? "")];
      }
      const drafted = draftBody(request.body, request.url, source.drafting);
      const session = openSession(drafted.wire, state, source);
      return [...session.opening, toRequest(request, drafted, { ...session, state })];
    },
    end: () => [],
  };
}

/** Why a request says nothing about caching; null where it does. */
function problemOf({ body, url, status }: RequestLine): string | null {
  if (status !== null && status >= 400) return `the provider refused it with status ${status}`;
  if (url !== null && /count_tokens|input_tokens/.test(url)) return "it only counts tokens";
  const thread = body["thread"];
  const isContinued = isObject(thread) && thread["type"] === "continue";
  if (isContinued || typeof body["previous_response_id"] === "string") {
    return "it continues a conversation that only the provider has";
  }
  return null;
}

interface Session {
  readonly sessionId: string;
  readonly opening: readonly Recorded[];
}

function openSession(wire: ProtocolName, { sessions }: LogState, { file, run }: Source): Session {
  const known = sessions.get(wire);
  if (known !== undefined) return { sessionId: known, opening: [] };
  const id = run.claimSessionId(sessions.size === 0 ? file : `${file} ${wire}`);
  sessions.set(wire, id);
  const session = {
    id,
    file,
    format: "request-log",
    agent: null,
    wire,
    blocks: "as sent",
    workspace: file,
  } as const;
  return { sessionId: id, opening: [{ type: "session", session }] };
}

function toRequest(
  request: RequestLine,
  drafted: DraftedBody,
  { sessionId, state }: { readonly sessionId: string; readonly state: LogState },
): Recorded {
  const key = `${drafted.wire} ${threadKey(request, drafted)}`;
  state.mainKey ??= key;
  const thread = key === state.mainKey ? "" : hashContent(key).slice(0, 12);
  const history = historyOf(thread, state);
  const { keep, added } = history.advance(0, drafted.blocks);
  const model = textIn(request.body, "model") ?? null;
  const images = history.hasImages ? { "images appear or vanish": "images" } : {};
  return {
    type: "request",
    sessionId,
    request: {
      thread,
      startMs: request.startMs,
      endMs: request.endMs,
      model,
      keep,
      append: toRecordedBlocks(added, tokenizerOf(model)),
      remainderTokens: 0,
      usage: usageOf(request.usage, drafted.wire),
      markers: markersOf(drafted.blocks),
      settings: { ...drafted.settings, ...images },
    },
  };
}

/**
 * What stays the same over a conversation: what the client calls it and its tools, or else all
 * before the messages and how the user began.
 */
function threadKey({ session }: RequestLine, { blocks, headLength }: DraftedBody): string {
  const head = blocks.slice(0, headLength);
  if (session !== null) {
    const tools = head.filter(({ role }) => role === "tools").map(({ hash }) => hash);
    return hashContent([session, ...tools].join("\n"));
  }
  const end = blocks.findIndex(({ endsMessage }, index) => index >= headLength && endsMessage);
  return hashContent(
    blocks
      .slice(0, end === -1 ? blocks.length : end + 1)
      .map(({ hash }) => hash)
      .join("\n"),
  );
}

function historyOf(thread: string, { threads }: LogState): ThreadHistory {
  const history = threads.get(thread) ?? createThreadHistory();
  threads.delete(thread);
  threads.set(thread, history);
  const [oldest] = threads.keys();
  if (threads.size > threadsMax && oldest !== undefined) threads.delete(oldest);
  return history;
}

function usageOf(usage: Fields | null, wire: ProtocolName): Usage | null {
  if (usage === null) return null;
  switch (wire) {
    case "anthropic-messages":
      return readUsage(usage).usage;
    case "openai-chat":
      return readChatUsage(usage).usage;
    case "openai-responses":
      return readResponsesUsage(usage).usage;
  }
}
