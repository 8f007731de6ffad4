// Reads sessions of hermes: its export, its session files and its gateway's transcripts. Bills are sums over a session, not of calls.
import {
  countIn,
  fieldsOf,
  listIn,
  parseFields,
  textIn,
  type Fields,
} from "../../core/message/fields.ts";
import { findProtocolCalled } from "../../core/wire/foreign/recognise-protocol.ts";
import type { Recorded } from "../recording.ts";
import type { BlockDraft } from "./block-draft.ts";
import { openSession, skip, timeMsOf, type LineReader, type Source } from "./line-reader.ts";
import { draftOther } from "./forms/other-messages.ts";
import { createThreadHistory, type ThreadHistory } from "./thread-history.ts";

export function isHermes(line: Fields): boolean {
  if (line["role"] === "session_meta") return true;
  if (!Array.isArray(line["messages"])) return false;
  const isExport = typeof line["id"] === "string" && "started_at" in line && "source" in line;
  return isExport || (typeof line["session_id"] === "string" && "session_start" in line);
}

interface HermesSession {
  readonly source: Source;
  readonly line: number;
  /** The session's own record, or the first line of a transcript. */
  readonly facts: Fields;
  readonly history: ThreadHistory;
  /** The blocks since the last request. */
  tail: BlockDraft[];
  lastMs: number | null;
  sessionId: string | null;
}

export function createHermesReader(source: Source): LineReader {
  /** A transcript has a line for each message. */
  let open: HermesSession | null = null;
  return {
    read(line, number) {
      if (Array.isArray(line["messages"])) {
        const session = startSession(line, number, source);
        const recorded = listIn(line, "messages").flatMap((each) =>
          addMessage(fieldsOf(each), session),
        );
        return [...recorded, ...nameSum(line, session)];
      }
      if (line["role"] === "session_meta") {
        open ??= startSession(line, number, source);
        return [];
      }
      if (open === null)
        return [skip(source.file, number, "it stands before the session's first line")];
      return addMessage(line, open);
    },
    end: () => [],
  };
}

function startSession(facts: Fields, line: number, source: Source): HermesSession {
  const system = textIn(facts, "system_prompt");
  const tools = listIn(facts, "tools");
  const head = draftOther(
    {
      messages: [],
      ...(system === undefined || system === "" ? {} : { system }),
      ...(tools.length === 0 ? {} : { tools }),
    },
    source.drafting,
  );
  const history = createThreadHistory();
  return { source, line, facts, history, tail: head, lastMs: null, sessionId: null };
}

/** Roles of the model and of those who speak to it; all others are the client's own notes. */
const sentRoles = ["system", "user", "assistant", "tool"];

function addMessage(message: Fields, session: HermesSession): Recorded[] {
  if (!sentRoles.includes(textIn(message, "role") ?? "") || message["active"] === 0) return [];
  const timeMs = timeOf(message["timestamp"]);
  // What was delivered elsewhere is shown to the model, and no reply of it.
  const isReply = message["role"] === "assistant" && message["mirror"] !== true;
  const recorded = isReply ? toRequest(timeMs, session) : [];
  session.tail.push(...draftOther({ messages: [withCalls(message)] }, session.source.drafting));
  session.lastMs = timeMs ?? session.lastMs;
  return recorded;
}

/** The database keeps lists as text. */
function withCalls(message: Fields): Fields {
  const calls = message["tool_calls"];
  if (typeof calls !== "string") return message;
  const { list } = parseFields(`{"list":${calls}}`) ?? {};
  return { ...message, tool_calls: list };
}

/** Everything before a reply was sent. */
function toRequest(endMs: number | null, session: HermesSession): Recorded[] {
  const { source, facts, history } = session;
  const provider = textIn(facts, "billing_provider") ?? textIn(facts, "base_url") ?? "";
  const wire = findProtocolCalled(provider)?.name ?? null;
  const id = textIn(facts, "id") ?? textIn(facts, "session_id") ?? null;
  const opening =
    session.sessionId === null
      ? [openSession(source, id, { format: "hermes", agent: "hermes", wire })]
      : [];
  session.sessionId ??= opening[0]?.session.id ?? source.file;
  const request = history.advance(history.blocks.length, session.tail, {
    thread: "",
    startMs: session.lastMs ?? timeOf(facts["started_at"]) ?? timeOf(facts["session_start"]),
    endMs,
    model: textIn(facts, "model") ?? null,
    usage: null,
    settings: {},
  });
  session.tail = [];
  return [...opening, { type: "request", sessionId: session.sessionId, request }];
}

/** The session's counts cannot be split by call. */
function nameSum(facts: Fields, { source, line, sessionId }: HermesSession): Recorded[] {
  const isBilled =
    (countIn(facts, "input_tokens") ?? 0) + (countIn(facts, "cache_read_tokens") ?? 0) > 0;
  if (!isBilled || sessionId === null) return [];
  return [skip(source.file, line, "its usage is a sum over the session, not of calls")];
}

/** Seconds since 1970, or a date. */
function timeOf(value: unknown): number | null {
  if (typeof value === "number" && Number.isFinite(value) && value > 0)
    return Math.round(value * 1000);
  return timeMsOf(value);
}
