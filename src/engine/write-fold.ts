// A fold as it is recorded, and the session that goes on from it.
import { randomUUID } from "node:crypto";
import type { Foundation } from "../core/assembly/foundation.ts";
import { keepFoundation } from "../core/assembly/kept-foundation.ts";
import { appendMessages, openThread, type Thread } from "../core/assembly/thread.ts";
import type { HistoryMessage } from "../core/compaction/history.ts";
import { encodeIndex, type FoldIndex } from "../core/compaction/index/fold-index.ts";
import { afterFold } from "../core/compaction/plan/folding-state.ts";
import type { CompactionSettings } from "../core/compaction/plan/settings.ts";
import { makeValid } from "../core/compaction/summary/make-valid.ts";
import type { FoldDetails, NewFold } from "../core/ledger/fold-record.ts";
import type { Message } from "../core/message/message.ts";
import { countTurns, type FoldScene } from "./fold-scene.ts";
import { newMessages } from "./record-turn.ts";
import type { LaidFoundation } from "./session-foundation.ts";
import { toStateText } from "./session-state.ts";
import { keptSetupOf } from "./stored-session.ts";
import type { Session } from "./session.ts";

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
  readonly messages: readonly Message[];
  /** Where in the history the kept part begins. */
  readonly at: number;
  readonly index: FoldIndex | null;
  /** Tools and system text from here on; null where they stay. */
  readonly laid: LaidFoundation | null;
  /** Of the prompt that would have been sent, as the provider counts. */
  readonly promptTokens: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface WrittenFold {
  readonly fold: NewFold;
  /** Goes on with the running turn, up to what is staged. */
  readonly session: Session;
  /** As it was before the running turn, from now on. */
  readonly before: Session;
  /** What the next call sends that is new. */
  readonly current: readonly Message[];
  /** How many messages of the history are out of sight. */
  readonly foldedLength: number;
}

export function writeFold(
  scene: FoldScene,
  replacement: Replacement,
  next: Session,
  { auto }: Pick<CompactionSettings, "auto">,
): WrittenFold {
  const { history, open } = scene;
  const { laid, endMs, metadata } = replacement;
  const laidOn = laid?.foundation ?? next.thread.foundation;
  const { folded, thread, earlier, current, keptFrom } = layFolded(
    scene,
    replacement,
    laidOn,
    next,
  );
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
  });
  const id = randomUUID();
  const base: Session = { ...(laid === null ? next : withFoundation(next, laid)), folding };
  const before: Session = { ...base, thread: earlier, headTurnId: id };
  const summaryTokens = folded.end.tokens - laidOn.end.tokens;
  const sizes = { keptFrom, tokensBefore, tokensAfter, summaryTokens };
  const metadataJson = JSON.stringify({ ...metadata, setup: keptSetupOf(base) });
  const fold: NewFold = {
    id,
    sessionId: base.id,
    parentTurnId: open === null ? base.headTurnId : open.parentTurnId,
    messages: newMessages(folded, 0),
    details: { ...detailsOf(scene, replacement, sizes), metadataJson },
    ...(laid === null ? {} : { foundation: keepFoundation(laidOn) }),
    stateJson: toStateText(before, id),
  };
  // Between turns the session goes on from the fold itself.
  const session = open === null ? before : { ...base, thread };
  return { fold, session, before, current, foldedLength: replacement.at };
}

interface Folded {
  /** What is recorded with the fold. */
  readonly folded: Thread;
  /** With everything that is kept, up to what is staged. */
  readonly thread: Thread;
  /** With what is kept of earlier turns. */
  readonly earlier: Thread;
  readonly current: readonly Message[];
  /** From here on the history is kept to the byte. */
  readonly keptFrom: number;
}

function layFolded(
  { history, staged, open }: FoldScene,
  { at, messages }: Replacement,
  foundation: Foundation,
  { model }: Session,
): Folded {
  const stagedFrom = history.length - staged.length;
  const kept = history.slice(at, stagedFrom);
  const keptMessages = kept.map(toMessage);
  const valid = makeValid(keptMessages, model);
  const head = makeValid(messages, model).messages;
  if (!valid.changed) {
    const folded = appendMessages(openThread(foundation), head);
    const earlier = kept.filter(({ turnId }) => turnId !== open?.id).map(toMessage);
    return {
      folded,
      thread: appendMessages(folded, keptMessages),
      earlier: appendMessages(folded, earlier),
      current: staged,
      keptFrom: at,
    };
  }
  // What a reply asked for and what was answered must not be parted: the turn may still come to nothing.
  const answers = staged.some(({ role }) => role === "tool") ? staged : [];
  const all = [...head, ...valid.messages, ...answers];
  const folded = appendMessages(openThread(foundation), all);
  const current = answers.length === 0 ? staged : [];
  const keptFrom = answers.length === 0 ? stagedFrom : history.length;
  return { folded, thread: folded, earlier: folded, current, keptFrom };
}

interface Sizes extends Pick<FoldDetails, "tokensBefore" | "tokensAfter" | "summaryTokens"> {
  readonly keptFrom: number;
}

function detailsOf(
  scene: FoldScene,
  replacement: Replacement,
  { keptFrom, ...sizes }: Sizes,
): Omit<FoldDetails, "metadataJson"> {
  const { history, lead } = scene;
  const { kind, trigger, summary, model, provider } = replacement;
  const { at, index, startMs, endMs, inputTokens, outputTokens, costPicoUsd } = replacement;
  const touched = countTurns({ history: history.slice(0, keptFrom), lead });
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
    summarizedThroughTurnId: history[keptFrom - 1]?.turnId ?? "",
    ...firstKept(scene, keptFrom),
    turnsSummarized: isSplit(scene, keptFrom) ? touched - 1 : touched,
    headTurnCount: countTurns(scene),
    tailStartIndex: at,
    indexJson: index === null ? null : encodeIndex(index),
  };
}

function firstKept(
  { history, open }: FoldScene,
  keptFrom: number,
): Pick<FoldDetails, "firstKeptTurnId" | "firstKeptIndex"> {
  const first = history[keptFrom];
  if (first !== undefined) return { firstKeptTurnId: first.turnId, firstKeptIndex: first.index };
  if (open === null) return { firstKeptTurnId: null, firstKeptIndex: 0 };
  const last = history.findLast(({ turnId }) => turnId === open.id);
  return { firstKeptTurnId: open.id, firstKeptIndex: (last?.index ?? -1) + 1 };
}

function isSplit({ history }: FoldScene, keptFrom: number): boolean {
  return (
    history[keptFrom] !== undefined && history[keptFrom]?.turnId === history[keptFrom - 1]?.turnId
  );
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
