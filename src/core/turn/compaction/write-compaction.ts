// A compaction as the ledger records it, and the session after it.
import type { Foundation } from "../../assembly/foundation.ts";
import { keepFoundation } from "../../assembly/kept-foundation.ts";
import { appendMessages, countedMessages, openThread, type Thread } from "../../assembly/thread.ts";
import { toCopiedRuns, type CompactionHead } from "../../compaction/compaction-head.ts";
import type { HistoryMessage } from "../../compaction/history.ts";
import { afterCompaction, type CompactionEffect } from "../../compaction/plan/compaction-state.ts";
import type { CompactionSettings } from "../../compaction/plan/settings.ts";
import type { NotesMessages } from "../../compaction/summary/notes-messages.ts";
import { makeValid } from "../../compaction/summary/make-valid.ts";
import type { CompactionDetails, NewCompaction } from "../../ledger/compaction-record.ts";
import type { Message } from "../../message/message.ts";
import { countTurns, type CompactionInput } from "./compaction-input.ts";
import type { SessionFoundation } from "../../session/session-foundation.ts";
import { toStateText } from "../../session/session-state.ts";
import { keptSetupOf } from "../../session/kept-setup.ts";
import { firstPlace, type Session } from "../../session/session.ts";

/** What replaces the history up to a place, and how it was made. */
export interface Replacement {
  /** The id of the turn that records it. */
  readonly id: string;
  /** The messages that replace the compacted part. */
  readonly messages: NotesMessages;
  /** The history after the compaction. It differs from before where results were cleared. */
  readonly history: readonly HistoryMessage[];
  /** Messages from here on follow the notes. */
  readonly at: number;
  /** Messages from here on are unchanged. */
  readonly changedTo: number;
  /** Tool uses whose results the model no longer sees. */
  readonly resultsGone: ReadonlySet<string>;
  readonly by: NotesBy;
  readonly summaryState: NonNullable<CompactionEffect["summary"]>;
  /** New tools and system text; null if they stay. */
  readonly newFoundation: SessionFoundation | null;
  /** The part of its row that does not depend on where its messages are stored. */
  readonly details: Omit<CompactionDetails, PlacedDetail>;
  readonly metadata: Readonly<Record<string, unknown>>;
}

type PlacedDetail =
  | "summarizedThroughTurnId"
  | "firstKeptTurnId"
  | "firstKeptIndex"
  | "turnsSummarized"
  | "headTurnCount"
  | "tailStartIndex"
  | "tokensAfter"
  | "summaryTokens"
  | "metadataJson";

/** Who wrote the notes. */
export type NotesBy = "provider" | "model" | "nobody";

export interface WrittenCompaction {
  readonly compaction: NewCompaction;
  /** The session in the running turn, up to the staged messages. */
  readonly session: Session;
  /** The new value of the session before the running turn. */
  readonly before: Session;
  /** The new messages of the next call. */
  readonly current: readonly Message[];
}

export function writeCompaction(
  input: CompactionInput,
  replacement: Replacement,
  next: Session,
  { auto }: Pick<CompactionSettings, "auto">,
): WrittenCompaction {
  const { history, open } = input;
  const { id, newFoundation, details, changedTo, metadata } = replacement;
  const foundation = newFoundation?.foundation ?? next.thread.foundation;
  const placed = placeCompaction(input, replacement, foundation, next);
  const { compacted, thread, earlier, current, keptFrom, head } = placed;
  const newTokens = countTokens(history.slice(history.length - input.staged.length));
  const countedBefore = input.session.thread.end.tokens + newTokens;
  const countedAfter = thread.end.tokens + (current.length === 0 ? 0 : newTokens);
  const { tokensBefore } = details;
  const tokensAfter = Math.max(0, tokensBefore + countedAfter - countedBefore);
  const { effectiveShareMin } = auto;
  const compactionState = afterCompaction(next.compactionState, {
    nowMs: details.compactedMs,
    tokensBefore,
    tokensAfter,
    effectiveShareMin,
    summary: replacement.summaryState,
  });
  const base: Session = {
    ...(newFoundation === null ? next : withFoundation(next, newFoundation)),
    compactionState,
    setupPlace: { ...firstPlace, after: findForeignEnd(input) },
    // Other models will now see the compacted history: the prefix they were sent before is useless.
    otherModels: next.otherModels.map((each) => ({ ...each, setup: null })),
  };
  const before: Session = { ...base, thread: earlier, headTurnId: id };
  const summaryTokens = compacted.end.tokens - foundation.end.tokens;
  const metadataJson = JSON.stringify({ ...metadata, lead: head, setup: keptSetupOf(base) });
  const place = placeOf(input, changedTo, keptFrom);
  const compaction: NewCompaction = {
    id,
    sessionId: base.id,
    parentTurnId: open === null ? base.headTurnId : open.parentTurnId,
    messages: countedMessages(compacted, 0),
    details: { ...details, ...place, tokensAfter, summaryTokens, metadataJson },
    ...(newFoundation === null && isFirst(next) ? {} : { foundation: keepFoundation(foundation) }),
    stateJson: toStateText(before, id),
  };
  // Between turns the session continues from the compaction's own turn.
  const session = open === null ? before : { ...base, thread, headTurnId: id };
  return { compaction, session, before, current };
}

interface Compacted {
  /** The messages stored with the compaction. */
  readonly compacted: Thread;
  readonly head: CompactionHead;
  /** All kept messages, up to the staged ones. */
  readonly thread: Thread;
  /** The kept messages of earlier turns. */
  readonly earlier: Thread;
  readonly current: readonly Message[];
  /** From here on the ledger has the messages in their own turns. */
  readonly keptFrom: number;
}

function placeCompaction(
  input: CompactionInput,
  { messages: made, history, at, changedTo }: Replacement,
  foundation: Foundation,
  { model }: Session,
): Compacted {
  const { staged, open } = input;
  const stagedFrom = history.length - staged.length;
  const keptFrom = findKeptFrom(input, changedTo, model);
  const copied = history.slice(at, keptFrom).flatMap((each) => toValid(each, model));
  const notes = makeValid(made.notes, model).messages;
  const requests = makeValid(made.requests, model).messages;
  const messages = [...notes, ...requests, ...copied.map(toMessage)];
  const compacted = appendMessages(openThread(foundation), messages);
  const kept = history.slice(keptFrom, stagedFrom);
  const earlier = kept.filter(({ turnId }) => turnId !== open?.id);
  return {
    compacted,
    head: {
      noteCount: notes.length,
      requestCount: requests.length,
      copied: toCopiedRuns(copied),
    },
    thread: appendMessages(compacted, kept.map(toMessage)),
    earlier: appendMessages(compacted, earlier.map(toMessage)),
    current: keptFrom > stagedFrom ? [] : staged,
    keptFrom,
  };
}

/** The compaction stores copies up to here: changed messages, those of an earlier compaction, and all if thinking must go. */
function findKeptFrom(
  { history, storedLength, staged }: CompactionInput,
  changedTo: number,
  model: Session["model"],
): number {
  const stagedFrom = history.length - staged.length;
  const keptFrom = Math.max(changedTo, storedLength);
  const kept = history.slice(keptFrom, stagedFrom).map(toMessage);
  if (!makeValid(kept, model).changed) return keptFrom;
  // A tool use and its result must stay together: the turn may still fail.
  return staged.some(({ role }) => role === "tool") ? history.length : stagedFrom;
}

function toValid(each: HistoryMessage, model: Session["model"]): readonly HistoryMessage[] {
  return makeValid([each.message], model).messages.map((message) => ({ ...each, message }));
}

/** Where the compaction stands in the ledger. */
function placeOf(
  input: CompactionInput,
  changedTo: number,
  keptFrom: number,
): Pick<
  CompactionDetails,
  Exclude<PlacedDetail, "tokensAfter" | "summaryTokens" | "metadataJson">
> {
  const { history, previous, storedLength } = input;
  const touched = countTurns({ history: history.slice(0, changedTo), previous });
  const isStored = previous !== null && keptFrom <= storedLength;
  return {
    // The turn that stores the message in the ledger: the earlier compaction's turn if that one copied it.
    summarizedThroughTurnId: isStored ? previous.turnId : (history[keptFrom - 1]?.turnId ?? ""),
    ...firstKept(input, keptFrom),
    turnsSummarized: isSplit(input, changedTo) ? touched - 1 : touched,
    headTurnCount: countTurns(input),
    tailStartIndex: changedTo,
  };
}

function firstKept(
  { history, open }: CompactionInput,
  keptFrom: number,
): Pick<CompactionDetails, "firstKeptTurnId" | "firstKeptIndex"> {
  const first = history[keptFrom];
  if (first !== undefined) return { firstKeptTurnId: first.turnId, firstKeptIndex: first.index };
  if (open === null) return { firstKeptTurnId: null, firstKeptIndex: 0 };
  const last = history.findLast(({ turnId }) => turnId === open.id);
  return { firstKeptTurnId: open.id, firstKeptIndex: (last?.index ?? -1) + 1 };
}

function isSplit({ history }: CompactionInput, at: number): boolean {
  return history[at] !== undefined && history[at]?.turnId === history[at - 1]?.turnId;
}

/** The last turn before the model joined. The model's own thinking up to there is also removed from now on. */
function findForeignEnd({ session, history, open }: CompactionInput): string | null {
  const { turnId, isRecorded, after } = session.setupPlace;
  if (turnId === null && isRecorded) return after;
  const own = turnId ?? open?.id;
  const from = history.findIndex((each) => each.turnId === own);
  return history[(from === -1 ? history.length : from) - 1]?.turnId ?? null;
}

/** Whether the ledger has tools and system text with the session or its latest compaction. */
function isFirst({ setupPlace }: Session): boolean {
  return setupPlace.turnId === null && setupPlace.isRecorded;
}

function withFoundation(session: Session, { foundation, ...made }: SessionFoundation): Session {
  return { ...session, ...made, thread: openThread(foundation) };
}

function countTokens(messages: readonly HistoryMessage[]): number {
  return messages.reduce((sum, { tokens }) => sum + tokens, 0);
}

function toMessage({ message }: HistoryMessage): Message {
  return message;
}
