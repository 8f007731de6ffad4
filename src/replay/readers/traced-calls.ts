// Calls as tracers record them, each on its own and in the order in which they ended: put in order and into sessions.
import type { Lifetime, Usage } from "../../core/message/usage.ts";
import type { Recorded, RecordedRequest, RecordingFormat } from "../recording.ts";
import { createBillThread } from "./bill-thread.ts";
import { draftHidden, type BlockDraft, type Drafting } from "./block-draft.ts";
import { openSession, skip, type Source } from "./line-reader.ts";
import { createThreadHistory, type RequestFacts } from "./thread-history.ts";

export interface TracedCall {
  readonly line: number;
  /** What the provider called the reply, or what the tracer calls the call. */
  readonly id: string;
  /** The call's own place among what is traced, and what it is inside of. */
  readonly place: string;
  readonly parent: string | null;
  readonly conversation: string;
  /** The agent within the conversation; null if not said. */
  readonly agent: string | null;
  /** The program that made the call. */
  readonly program: string | null;
  readonly wire: string | null;
  readonly model: string | null;
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly usage: Usage;
  /** Null if it was not recorded. */
  readonly prompt: readonly BlockDraft[] | null;
}

/** A session for each conversation. */
export function toSessions(
  calls: readonly TracedCall[],
  format: RecordingFormat,
  source: Source,
): Recorded[] {
  const { kept, left } = dropRepeated(calls, format, source);
  const byConversation = Map.groupBy(kept, ({ conversation }) => conversation);
  return [
    ...left,
    ...[...byConversation].flatMap(([id, own]) => toSession(id, own, format, source)),
  ];
}

/** Exporters send again, and two tracers may see the same call: one record inside the other. */
function dropRepeated(
  calls: readonly TracedCall[],
  format: RecordingFormat,
  { file, run }: Source,
): { readonly kept: TracedCall[]; readonly left: Recorded[] } {
  const places = new Set(calls.map(({ place }) => place));
  const left: Recorded[] = [];
  const kept = calls
    .toSorted((one, other) => (one.startMs ?? 0) - (other.startMs ?? 0))
    .filter(({ parent, id, line }) => {
      const isInner = parent !== null && places.has(parent);
      if (!isInner && run.claimReply(`${format} ${id}`)) return true;
      left.push(skip(file, line, "another record holds the same call"));
      return false;
    });
  return { kept, left };
}

function toSession(
  id: string,
  calls: readonly TracedCall[],
  format: RecordingFormat,
  source: Source,
): Recorded[] {
  const { file, drafting } = source;
  const hasPrompts = calls.every(({ prompt }) => prompt !== null);
  const first = calls[0];
  const opening = openSession(source, id, {
    format,
    agent: first?.program ?? null,
    wire: first?.wire ?? null,
    blocks: hasPrompts ? "as sent" : "from bills",
  });
  const sessionId = opening.session.id;
  const unused = hasPrompts ? undefined : calls.find(({ prompt }) => prompt !== null);
  const threads = new Map<string, Thread>();
  const requests = calls.map((call): Recorded => {
    // The agent that speaks first is the main one.
    const thread = call.agent === (first?.agent ?? null) ? "" : (call.agent ?? "no agent");
    const owner = `${sessionId}\n${thread}`;
    const make = hasPrompts ? createPromptThread : createBilled;
    const advance = threads.get(thread) ?? make(owner, drafting);
    threads.set(thread, advance);
    return { type: "request", sessionId, request: advance(call, thread) };
  });
  const reason = "its prompt is not used, because other calls of the conversation lack theirs";
  return [opening, ...requests, ...(unused === undefined ? [] : [skip(file, unused.line, reason)])];
}

type Thread = (call: TracedCall, thread: string) => RecordedRequest;

function createBilled(owner: string, drafting: Drafting): Thread {
  const advance = createBillThread(owner, drafting);
  return (call, thread) => advance({ ...factsOf(call, thread), usage: call.usage });
}

function createPromptThread(owner: string, drafting: Drafting): Thread {
  const history = createThreadHistory();
  let hidden: readonly BlockDraft[] | undefined;
  return (call, thread) => {
    const shown = call.prompt ?? [];
    const { usage, model } = call;
    hidden ??= shown.some(({ tier }) => tier === "T0")
      ? []
      : draftHidden(owner, "T0", { usage, model, shown }, drafting);
    return history.advance(0, [...hidden, ...shown], factsOf(call, thread));
  };
}

function factsOf({ startMs, endMs, model, usage }: TracedCall, thread: string): RequestFacts {
  return { thread, startMs, endMs, model, usage, settings: {} };
}

export interface TracedCounts {
  readonly input: number;
  readonly read: number;
  readonly written: number;
  /** The part of the written tokens whose lifetime is known. */
  readonly writtenShort: number;
  readonly writtenLong: number;
  readonly output: number;
  readonly reasoning: number;
}

/** `lifetime`: for how long things are written where nothing is said. */
export function toUsage(counts: TracedCounts, lifetime: Lifetime): Usage {
  const { input, read, writtenShort, writtenLong, output } = counts;
  const written = Math.max(counts.written, writtenShort + writtenLong);
  const reasoningTokens = Math.min(counts.reasoning, output);
  const short = written - writtenLong;
  return {
    // The total has to include what was cached. Where it is smaller than that, an old tracer left it out.
    uncachedTokens: input >= read + written ? input - read - written : input,
    cacheReadTokens: read,
    cacheWriteTokens: {
      ...(short > 0 ? { [writtenShort > 0 ? "5m" : lifetime]: short } : {}),
      ...(writtenLong > 0 ? { "1h": writtenLong } : {}),
    },
    outputTokens: output - reasoningTokens,
    reasoningTokens,
  };
}
