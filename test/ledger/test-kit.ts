// What every test of the ledger writes: sessions, messages, calls and whole turns, in a few words.
import type { CachePlan } from "../../src/core/cache/cache-plan.ts";
import type { CompactionDetails, NewCompaction } from "../../src/core/ledger/compaction-record.ts";
import type { CallEntry, LoneCall } from "../../src/core/ledger/call-entry.ts";
import type { Ledger, OpenTurn, ThreadOf } from "../../src/core/ledger/ledger.ts";
import type { NewSession, SessionRecord } from "../../src/core/ledger/session-record.ts";
import type { NewMessage, NewTurn } from "../../src/core/ledger/turn-record.ts";
import type { Block, Message } from "../../src/core/message/message.ts";
import { StrataError } from "../../src/core/strata-error.ts";

/** When the clock of a test starts. */
export const startMs: number = Date.UTC(2026, 10, 16);

export function newSession(id: string, more: Partial<NewSession> = {}): NewSession {
  return { id, agent: "coder", role: "unified", model: "claude", provider: "anthropic", ...more };
}

export function openSession(
  ledger: Ledger,
  id: string,
  more: Partial<NewSession> = {},
): Promise<SessionRecord> {
  return ledger.createSession(newSession(id, more));
}

export function user(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

export function assistant(text: string): Message {
  return { role: "assistant", content: [{ type: "text", text }] };
}

/** A reply that asks for tools: `asks("u1", "u2")` wants two. */
export function asks(...ids: readonly string[]): Message {
  const uses = ids.map((id): Block => ({ type: "tool_use", id, name: "Read", inputJson: "{}" }));
  return { role: "assistant", content: uses };
}

export function answers(toolUseId: string, text: string, isError = false): Message {
  const content = [{ type: "text" as const, text }];
  return { role: "tool", content: [{ type: "tool_result", toolUseId, content, isError }] };
}

export function counted(message: Message, tokens = 3): NewMessage {
  return { message, tokens };
}

export function newTurn(
  sessionId: string,
  id: string,
  parentTurnId: string | null,
  more: Partial<NewTurn> = {},
): NewTurn {
  return {
    id,
    sessionId,
    parentTurnId,
    model: "claude",
    provider: "anthropic",
    role: "unified",
    startMs,
    messages: [counted(user(`question of ${id}`))],
    ...more,
  };
}

/** One call that went well: what it sends is what a new turn stages, unless the options differ. */
export function call(turnId: string, number: number, more: Partial<CallEntry> = {}): CallEntry {
  return {
    turnId,
    number,
    startMs: startMs + number * 10,
    endMs: startMs + number * 10 + 5,
    model: "claude",
    policy: "adaptive",
    promptKey: "key",
    plan: noPlan,
    status: "complete",
    stopReason: "end_turn",
    usage: {
      uncachedTokens: 10,
      cacheReadTokens: 100,
      cacheWriteTokens: { "5m": 7 },
      outputTokens: 20,
      reasoningTokens: 0,
    },
    discarded: [],
    costPicoUsd: 1000n,
    failure: null,
    verdict: null,
    refuted: [],
    notes: [],
    sent: number === 1 ? [user(`question of ${turnId}`)] : [],
    reply: assistant(`answer of ${turnId}`),
    ...more,
  };
}

/** A call without a turn that went well. */
export function loneCall(sessionId: string, id: string, more: Partial<LoneCall> = {}): LoneCall {
  const { turnId: _turnId, number: _number, sent: _sent, reply: _reply, ...rest } = call("", 1);
  const shape = { ...rest, startMs: startMs + 10, costPicoUsd: 500n };
  return { id, sessionId, kind: "warm", provider: "anthropic", ...shape, ...more };
}

export const noPlan: CachePlan = {
  markers: [],
  requestMarker: null,
  mode: null,
  cacheKey: null,
  expected: {
    hitBlock: null,
    hit: null,
    spanEnds: {},
    refreshed: [],
    written: [],
    readTokens: 0,
    writeTokens: {},
    uncachedTokens: 110,
    costPicoUsd: null,
  },
  dropped: [],
  keepWarm: { pays: false, afterMs: null, gainTokens: 0, reason: "nothing to keep" },
};

/** Opens a turn after the session's head. */
export async function open(ledger: Ledger, sessionId: string, id: string): Promise<OpenTurn> {
  const session = await ledger.findSession(sessionId);
  return ledger.openTurn(newTurn(sessionId, id, session?.headTurnId ?? null));
}

/** A turn of one call: a question, an answer, completed. */
export async function run(ledger: Ledger, sessionId: string, id: string): Promise<void> {
  const turn = await open(ledger, sessionId, id);
  await turn.append(call(id, 1), { tokens: [3, 4] });
  await turn.close({ status: "completed", endMs: startMs + 100 });
}

/** Several of them, one after the other. */
export async function runAll(ledger: Ledger, sessionId: string, ids: string): Promise<void> {
  for (const id of ids.split(" ")) await run(ledger, sessionId, id);
}

/** A new session with these turns. */
export async function openWith(ledger: Ledger, sessionId: string, ids: string): Promise<void> {
  await openSession(ledger, sessionId);
  await runAll(ledger, sessionId, ids);
}

/** A turn of one call that comes to nothing. */
export async function fail(ledger: Ledger, sessionId: string, id: string): Promise<void> {
  const turn = await open(ledger, sessionId, id);
  await turn.append(call(id, 1));
  await turn.close({ status: "failed", endMs: startMs + 100, reason: "cut off" });
}

export function newCompaction(
  sessionId: string,
  id: string,
  parentTurnId: string | null,
  details: Partial<CompactionDetails> & Pick<CompactionDetails, "summarizedThroughTurnId">,
): NewCompaction {
  return {
    id,
    sessionId,
    parentTurnId,
    messages: [counted(user(`summary of ${id}`))],
    details: {
      compactedMs: startMs + 200,
      summary: `summary of ${id}`,
      firstKeptTurnId: null,
      firstKeptIndex: 0,
      turnsSummarized: 1,
      kind: "summary",
      trigger: "manual",
      model: "haiku",
      provider: "anthropic",
      tokensBefore: 1000,
      tokensAfter: 300,
      summaryTokens: 50,
      inputTokens: 900,
      outputTokens: 60,
      costPicoUsd: 77n,
      durationMs: 40,
      headTurnCount: 3,
      tailStartIndex: 2,
      indexJson: null,
      metadataJson: null,
      ...details,
    },
  };
}

/** A compaction of the usual figures after a turn. */
export async function compactAfter(
  ...given: readonly [Ledger, ...Parameters<typeof newCompaction>]
): Promise<void> {
  const [ledger, ...made] = given;
  await compaction(ledger, newCompaction(...made));
}

/** Takes the lock, appends a compaction after the head, gives the lock back. */
export async function compaction(ledger: Ledger, made: NewCompaction): Promise<void> {
  const lock = await ledger.lockCompaction(made.sessionId);
  try {
    await lock?.commit(made);
  } finally {
    await lock?.release();
  }
}

/** What a model would be shown, one line per message. */
export async function thread(
  ledger: Ledger,
  of: ThreadOf | string,
  options: { readonly whole?: boolean } = {},
): Promise<readonly string[]> {
  const place = typeof of === "string" ? { sessionId: of } : of;
  const messages = await all(ledger.readThread(place, options));
  return messages.map(({ message }) => wordsOf(message));
}

export async function turnIds(ledger: Ledger, of: ThreadOf | string): Promise<readonly string[]> {
  const place = typeof of === "string" ? { sessionId: of } : of;
  return (await all(ledger.readTurns(place))).map(({ id }) => id);
}

/** A message in one line: its texts, `?u1` for a tool use, `!u1 …` for an answer. */
export function wordsOf(message: Message): string {
  return message.content.map(toldBlock).join(" ");
}

function toldBlock(block: Block): string {
  if (block.type === "text") return block.text;
  if (block.type === "tool_use") return `?${block.id}`;
  if (block.type !== "tool_result") return block.type;
  return `!${block.toolUseId} ${block.content.map(toldBlock).join(" ")}`;
}

/** What a refusal says: its code, its sentence, its hint. */
export async function refusal(
  work: Promise<unknown>,
): Promise<{ readonly code: string; readonly message: string; readonly hint: string }> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof StrataError)) throw error;
    const { code, message, hint } = error;
    return { code, message, hint };
  }
  return { code: "nothing", message: "was refused", hint: "" };
}

export async function lines(ledger: Ledger, sessionId: string): Promise<readonly string[]> {
  return all(ledger.exportSession(sessionId));
}

export async function all<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
}

export async function* each<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values;
}
