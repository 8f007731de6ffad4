// A fold as it is recorded, and the session that goes on from it.
import type { Foundation } from "../../assembly/foundation.ts";
import { keepFoundation } from "../../assembly/kept-foundation.ts";
import { appendMessages, openThread, type Thread } from "../../assembly/thread.ts";
import { toCopiedRuns, type FoldLead } from "../../compaction/fold-lead.ts";
import type { HistoryMessage } from "../../compaction/history.ts";
import { encodeIndex, type FoldIndex } from "../../compaction/index/fold-index.ts";
import { afterFold, type FoldOutcome } from "../../compaction/plan/folding-state.ts";
import type { CompactionSettings } from "../../compaction/plan/settings.ts";
import type { FoldMessages } from "../../compaction/summary/fold-messages.ts";
import { makeValid } from "../../compaction/summary/make-valid.ts";
import type { FoldDetails, NewFold } from "../../ledger/fold-record.ts";
import type { Message } from "../../message/message.ts";
import { countTurns, type CompactionInput } from "./compaction-input.ts";
import { newMessages } from "../new-messages.ts";
import type { LaidFoundation } from "../../session/session-foundation.ts";
import { toStateText } from "../../session/session-state.ts";
import { keptSetupOf } from "../../session/kept-setup.ts";
import { firstSeat, type Session } from "../../session/session.ts";

/** What stands for the history up to a place, and what is known of how it came about. */
export interface Replacement extends Pick<
  FoldDetails,
  | "kind"
  | "trigger"
  | "summary"
  | "model"
  | "provider"
  | "inputTokens"
  | "outputTokens"
  | "costPicoUsd"
> {
  /** The name of the turn that records it. */
  readonly id: string;
  /** What stands for the folded part. */
  readonly lead: FoldMessages;
  /** The history as it goes on; other than it was where results were cleared. */
  readonly history: readonly HistoryMessage[];
  /** From here on it follows the notes. */
  readonly at: number;
  /** From here on it is as it was. */
  readonly changedTo: number;
  /** Tool uses whose results are out of sight. */
  readonly resultsGone: ReadonlySet<string>;
  readonly by: NotesBy;
  /** What became of the summary. */
  readonly summaryState: NonNullable<FoldOutcome["summary"]>;
  readonly index: FoldIndex | null;
  /** Tools and system text from here on; null where they stay. */
  readonly laid: LaidFoundation | null;
  /** Of the prompt that would have been sent, as the provider counts. */
  readonly promptTokens: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Who wrote what stands for the folded part. */
export type NotesBy = "provider" | "model" | "nobody";

export interface WrittenFold {
  readonly fold: NewFold;
  /** Goes on with the running turn, up to what is staged. */
  readonly session: Session;
  /** As it was before the running turn, from now on. */
  readonly before: Session;
  /** What the next call sends that is new. */
  readonly current: readonly Message[];
}

export function writeFold(
  scene: CompactionInput,
  replacement: Replacement,
  next: Session,
  { auto }: Pick<CompactionSettings, "auto">,
): WrittenFold {
  const { history, open } = scene;
  const { laid, endMs, metadata } = replacement;
  const laidOn = laid?.foundation ?? next.thread.foundation;
  const laidFold = layFolded(scene, replacement, laidOn, next);
  const { folded, thread, earlier, current, keptFrom, lead } = laidFold;
  const newTokens = countTokens(history.slice(history.length - scene.staged.length));
  const countedBefore = scene.session.thread.end.tokens + newTokens;
  const countedAfter = thread.end.tokens + (current.length === 0 ? 0 : newTokens);
  const tokensBefore = replacement.promptTokens;
  const tokensAfter = Math.max(0, tokensBefore + countedAfter - countedBefore);
  const { effectiveShareMin } = auto;
  const folding = afterFold(next.folding, {
    nowMs: endMs,
    tokensBefore,
    tokensAfter,
    effectiveShareMin,
    summary: replacement.summaryState,
  });
  const { id } = replacement;
  const base: Session = {
    ...(laid === null ? next : withFoundation(next, laid)),
    folding,
    seat: { ...firstSeat, after: findForeignEnd(scene) },
    // Another model would be shown the folded history: what it was sent before is of no use.
    otherSeats: next.otherSeats.map((each) => ({ ...each, left: null })),
  };
  const before: Session = { ...base, thread: earlier, headTurnId: id };
  const summaryTokens = folded.end.tokens - laidOn.end.tokens;
  const sizes = { keptFrom, tokensBefore, tokensAfter, summaryTokens };
  const metadataJson = JSON.stringify({ ...metadata, lead, setup: keptSetupOf(base) });
  const fold: NewFold = {
    id,
    sessionId: base.id,
    parentTurnId: open === null ? base.headTurnId : open.parentTurnId,
    messages: newMessages(folded, 0),
    details: { ...detailsOf(scene, replacement, sizes), metadataJson },
    ...(laid === null && isFirst(next) ? {} : { foundation: keepFoundation(laidOn) }),
    stateJson: toStateText(before, id),
  };
  // Between turns the session goes on from the fold itself.
  const session = open === null ? before : { ...base, thread, headTurnId: id };
  return { fold, session, before, current };
}

interface Folded {
  /** What is recorded with the fold. */
  readonly folded: Thread;
  readonly lead: FoldLead;
  /** With everything that is kept, up to what is staged. */
  readonly thread: Thread;
  /** With what is kept of earlier turns. */
  readonly earlier: Thread;
  readonly current: readonly Message[];
  /** From here on the ledger has the history where it was said. */
  readonly keptFrom: number;
}

function layFolded(
  scene: CompactionInput,
  { lead, history, at, changedTo }: Replacement,
  foundation: Foundation,
  { model }: Session,
): Folded {
  const { staged, open } = scene;
  const stagedFrom = history.length - staged.length;
  const keptFrom = findKeptFrom(scene, changedTo, model);
  const copied = history.slice(at, keptFrom).flatMap((each) => toValid(each, model));
  const notes = makeValid(lead.notes, model).messages;
  const requests = makeValid(lead.requests, model).messages;
  const messages = [...notes, ...requests, ...copied.map(toMessage)];
  const folded = appendMessages(openThread(foundation), messages);
  const kept = history.slice(keptFrom, stagedFrom);
  const earlier = kept.filter(({ turnId }) => turnId !== open?.id);
  return {
    folded,
    lead: {
      noteCount: notes.length,
      requestCount: requests.length,
      copied: toCopiedRuns(copied),
    },
    thread: appendMessages(folded, kept.map(toMessage)),
    earlier: appendMessages(folded, earlier.map(toMessage)),
    current: keptFrom > stagedFrom ? [] : staged,
    keptFrom,
  };
}

/** What changed, or was said by a fold before, this one says itself: and where thinking must go, all that is kept. */
function findKeptFrom(
  { history, storedLength, staged }: CompactionInput,
  changedTo: number,
  model: Session["model"],
): number {
  const stagedFrom = history.length - staged.length;
  const keptFrom = Math.max(changedTo, storedLength);
  const kept = history.slice(keptFrom, stagedFrom).map(toMessage);
  if (!makeValid(kept, model).changed) return keptFrom;
  // What a reply asked for and what was answered must not be parted: the turn may still come to nothing.
  return staged.some(({ role }) => role === "tool") ? history.length : stagedFrom;
}

function toValid(each: HistoryMessage, model: Session["model"]): readonly HistoryMessage[] {
  return makeValid([each.message], model).messages.map((message) => ({ ...each, message }));
}

interface Sizes extends Pick<FoldDetails, "tokensBefore" | "tokensAfter" | "summaryTokens"> {
  readonly keptFrom: number;
}

function detailsOf(
  scene: CompactionInput,
  replacement: Replacement,
  { keptFrom, ...sizes }: Sizes,
): Omit<FoldDetails, "metadataJson"> {
  const { history, lead, storedLength } = scene;
  const { kind, trigger, summary, model, provider } = replacement;
  const { changedTo, index, startMs, endMs, inputTokens, outputTokens, costPicoUsd } = replacement;
  const touched = countTurns({ history: history.slice(0, changedTo), lead });
  const isStored = lead !== null && keptFrom <= storedLength;
  return {
    ...sizes,
    kind,
    trigger,
    summary,
    model,
    provider,
    inputTokens,
    outputTokens,
    costPicoUsd,
    compactedMs: endMs,
    durationMs: endMs - startMs,
    // Where the ledger has it, which is not where it was said first if the fold before says it.
    summarizedThroughTurnId: isStored ? lead.turnId : (history[keptFrom - 1]?.turnId ?? ""),
    ...firstKept(scene, keptFrom),
    turnsSummarized: isSplit(scene, changedTo) ? touched - 1 : touched,
    headTurnCount: countTurns(scene),
    tailStartIndex: changedTo,
    indexJson: index === null ? null : encodeIndex(index),
  };
}

function firstKept(
  { history, open }: CompactionInput,
  keptFrom: number,
): Pick<FoldDetails, "firstKeptTurnId" | "firstKeptIndex"> {
  const first = history[keptFrom];
  if (first !== undefined) return { firstKeptTurnId: first.turnId, firstKeptIndex: first.index };
  if (open === null) return { firstKeptTurnId: null, firstKeptIndex: 0 };
  const last = history.findLast(({ turnId }) => turnId === open.id);
  return { firstKeptTurnId: open.id, firstKeptIndex: (last?.index ?? -1) + 1 };
}

function isSplit({ history }: CompactionInput, at: number): boolean {
  return history[at] !== undefined && history[at]?.turnId === history[at - 1]?.turnId;
}

/** The last turn before the model came: what it thought up to there is not shown to it from now on, either. */
function findForeignEnd({ session, history, open }: CompactionInput): string | null {
  const { turnId, isRecorded, after } = session.seat;
  if (turnId === null && isRecorded) return after;
  const own = turnId ?? open?.id;
  const from = history.findIndex((each) => each.turnId === own);
  return history[(from === -1 ? history.length : from) - 1]?.turnId ?? null;
}

/** Its tools and system text are the session's own, or those of the fold before. */
function isFirst({ seat }: Session): boolean {
  return seat.turnId === null && seat.isRecorded;
}

function withFoundation(session: Session, { foundation, ...laid }: LaidFoundation): Session {
  return { ...session, ...laid, thread: openThread(foundation) };
}

function countTokens(messages: readonly HistoryMessage[]): number {
  return messages.reduce((sum, { tokens }) => sum + tokens, 0);
}

function toMessage({ message }: HistoryMessage): Message {
  return message;
}
