// Raw request logs: each line a whole request as it was sent, turned into what changed since the one before.
import { hashContent } from "../../core/hash.ts";
import type { Fields } from "../../core/message/fields.ts";
import type { ReadShape } from "../../core/wire/foreign/foreign-request.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { Recorded, RecordedRequest } from "../recording.ts";
import { createDrafts, type BlockDraft, type Drafting } from "./block-draft.ts";
import { openSession, skip, type LineReader, type Source } from "./line-reader.ts";
import { readRequestLine, type RequestLine } from "./request-line.ts";
import { createThreadHistory, markersOf, type ThreadHistory } from "./thread-history.ts";

export function isRequestLog(line: Fields, protocols?: readonly Protocol[]): boolean {
  return readRequestLine(line, protocols) !== undefined;
}

/** A log may hold any number of threads; one that was not seen for so many others starts again. */
const threadsMax = 64;

interface LogState {
  /** A session for each wire, since a session has one. */
  readonly sessions: Map<string, string>;
  /** By thread name, the one used last at the end. */
  readonly threads: Map<string, ThreadHistory>;
  /** What the main thread is known by. */
  mainKey: string | null;
}

export function createRequestLogReader(source: Source): LineReader {
  const state: LogState = { sessions: new Map(), threads: new Map(), mainKey: null };
  return {
    read(line, number) {
      const request = readRequestLine(line, source.protocols);
      if (request === undefined) return [skip(source.file, number, "it holds no request")];
      const shape = request.protocol.foreign.read(request.seen.body, undefined);
      const problem = problemOf(request, shape);
      if (problem !== null) return [skip(source.file, number, problem)];
      const { sessionId, opening } = openOnce(request.protocol.name, state, source);
      const blocks = draftBlocks(shape, source.drafting);
      const recorded = toRequest(request, blocks, shape.settings, state);
      return [...opening, { type: "request", sessionId, request: recorded }];
    },
    end: () => [],
  };
}

/** Why a request says nothing about caching; null where it does. */
function problemOf({ protocol, seen, status }: RequestLine, shape: ReadShape): string | null {
  if (status !== null && status >= 400) return `the provider refused it with status ${status}`;
  if (protocol.counting?.isAskedAt(seen.path ?? "") === true) return "it only counts tokens";
  return shape.continues ? "it continues a conversation that only the provider has" : null;
}

/** One marker for the whole request lands on its last block that can carry one. */
function draftBlocks({ drafts, requestMarker }: ReadShape, drafting: Drafting): BlockDraft[] {
  const blocks = createDrafts(drafts, drafting);
  const last = blocks.findLastIndex(({ mayCarryMarker }) => mayCarryMarker);
  return blocks.map((draft, index) =>
    requestMarker === null || index !== last
      ? draft
      : { ...draft, marker: draft.marker ?? requestMarker },
  );
}

function openOnce(
  wire: string,
  { sessions }: LogState,
  source: Source,
): { readonly sessionId: string; readonly opening: readonly Recorded[] } {
  const known = sessions.get(wire);
  if (known !== undefined) return { sessionId: known, opening: [] };
  const id = sessions.size === 0 ? null : `${source.file} ${wire}`;
  const opening = openSession(source, id, {
    format: "request-log",
    agent: null,
    wire,
    isWhole: true,
  });
  sessions.set(wire, opening.session.id);
  return { sessionId: opening.session.id, opening: [opening] };
}

function toRequest(
  request: RequestLine,
  blocks: readonly BlockDraft[],
  settings: ReadShape["settings"],
  state: LogState,
): RecordedRequest {
  const { protocol, model, usage, startMs, endMs } = request;
  const key = `${protocol.name} ${threadKey(request, blocks)}`;
  state.mainKey ??= key;
  const thread = key === state.mainKey ? "" : hashContent(key).slice(0, 12);
  return historyOf(thread, state).advance(0, blocks, {
    thread,
    startMs,
    endMs,
    model,
    usage: usage === null ? null : protocol.readUsage(usage).usage,
    markers: markersOf(blocks),
    settings,
  });
}

/**
 * What stays the same over a conversation: what the client calls it and its tools, or else all
 * before the messages and how the user began.
 */
function threadKey({ session }: RequestLine, blocks: readonly BlockDraft[]): string {
  const firstMessage = blocks.findIndex(({ tier }) => tier === "T3");
  const headLength = firstMessage === -1 ? blocks.length : firstMessage;
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
