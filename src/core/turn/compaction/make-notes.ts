// The notes that replace the compacted part: the provider's own compaction, a summary, or an outline without a model.
import { appendMessages, openThread, type Thread } from "../../assembly/thread.ts";
import type { HistoryMessage } from "../../compaction/history.ts";
import {
  buildIndex,
  decodeIndex,
  identifiersOf,
  type CompactionIndex,
} from "../../compaction/index/compaction-index.ts";
import { summaryInstruction } from "../../compaction/summary/instruction.ts";
import type { CompactionTrigger } from "../../compaction/plan/decide-compaction.ts";
import type { Boundary } from "../../compaction/plan/find-boundary.ts";
import { planNoteSizes, type NoteSizes } from "../../compaction/plan/compaction-limits.ts";
import {
  toNotesMessages,
  type NotesMessages,
  type NotesParts,
} from "../../compaction/summary/notes-messages.ts";
import { outlineHistory } from "../../compaction/summary/outline.ts";
import { keepUserWords } from "../../compaction/summary/user-words.ts";
import { previousNotes } from "../../compaction/summary/read-notes-message.ts";
import type { Message } from "../../message/message.ts";
import { canRecall, settingsOf, type CompactionRules } from "../../session/compaction-rules.ts";
import type { Activation } from "../../skills/activation.ts";
import { type CompactionInput, answeredIn, freedSkills } from "./compaction-input.ts";
import type { SummaryRequest } from "./summary-request.ts";
import type { NotesBy } from "./write-compaction.ts";

/** The part to compact. */
export interface NotesQuestion {
  readonly input: CompactionInput;
  readonly boundary: Boundary;
  readonly trigger: CompactionTrigger;
  readonly skillsLoaded: readonly Activation[];
  readonly focus: string | undefined;
  readonly rules: CompactionRules | undefined;
  /** The exact names of things in the compacted part. */
  readonly index: CompactionIndex;
}

export function toNotesQuestion(wish: Omit<NotesQuestion, "index">): NotesQuestion {
  const { input, boundary } = wish;
  const { session, history, previous } = input;
  const { counter } = session.thread.foundation;
  const index = buildIndex({
    compacted: history.slice(0, boundary.at),
    // Messages that stay word for word need no room in the index.
    kept: [...boundary.repeated, ...history.slice(boundary.at)],
    previous: previous?.indexJson == null ? null : decodeIndex(previous.indexJson),
    tokensMax: sizesOf(wish).indexTokens,
    countText: (text) => counter.text(text),
  });
  return { ...wish, index };
}

export interface MadeNotes {
  readonly kind: "summary" | "sliding_window";
  /** As text, for people to read. */
  readonly text: string;
  readonly messages: NotesMessages;
  readonly index: CompactionIndex;
  readonly by: NotesBy;
}

/** The request to the provider's own compaction. */
export interface ProviderWish {
  /** The part to compact: the session's thread, or its beginning up to a boundary. */
  readonly thread: Thread;
  /** Messages after it, such as results of tools that its last reply called. They are compacted too. */
  readonly pending: readonly Message[];
  /** The volatile text of the last call. It is part of the prefix if it stands before the messages. */
  readonly volatile: string | null;
  /** Replaces the provider's own instructions. A provider that takes none ignores it, with a note. */
  readonly instructions?: string;
  /** Longest summary, including the model's thinking. */
  readonly outputTokensMax?: number;
}

export function toProviderWish(question: NotesQuestion): ProviderWish {
  const { input, boundary, focus } = question;
  const { session, history } = input;
  const compacted = history.slice(0, boundary.at).map(({ message }) => message);
  const thread = appendMessages(openThread(session.thread.foundation), compacted);
  const wish = { thread, pending: [], volatile: session.lastVolatile };
  // Our instructions would replace the provider's own, which are good enough without a focus.
  if (focus === undefined) return wish;
  const identifiers = mustKeep([], question.index);
  const { summaryTokens: tokensMax } = sizesOf(question);
  const about = { focus, hasEarlierNotes: false, identifiers, tokensMax };
  return { ...wish, instructions: summaryInstruction(about) };
}

export function toSummaryRequest(question: NotesQuestion): SummaryRequest {
  const { input, boundary, focus } = question;
  const { session, history, staged } = input;
  const { counter } = session.thread.foundation;
  const compacted = history.slice(0, boundary.at);
  const lastAsk = compacted.findLast(
    ({ message, compactionPart }) => message.role === "user" && compactionPart !== "notes",
  );
  return {
    thread: session.thread,
    // A new request is kept word for word and needs no summary.
    pending: staged.filter(({ role }) => role === "tool"),
    history: compacted,
    hasEarlierNotes: previousNotes(compacted) !== null,
    identifiers: mustKeep(lastAsk === undefined ? [] : wordsOf(lastAsk), question.index),
    // The request of the turn that is cut: the notes stand before the rest of it and must be about it.
    pendingAsks: boundary.repeated.flatMap(wordsOf),
    summaryTokensMax: sizesOf(question).summaryTokens,
    countText: (text) => counter.text(text),
    volatile: session.lastVolatile,
    ...(focus === undefined ? {} : { focus }),
  };
}

export function notesOfProvider(
  question: NotesQuestion,
  { messages, summary }: { readonly messages: readonly Message[]; readonly summary: string | null },
): MadeNotes {
  const ours = toNotesMessages({ ...partsOf(question), notes: null });
  return {
    kind: "summary",
    text: summary ?? "(the provider keeps it to itself)",
    messages: { ...ours, notes: [...messages, ...ours.notes] },
    index: question.index,
    by: "provider",
  };
}

export function notesOfSummary(question: NotesQuestion, text: string): MadeNotes {
  const messages = toNotesMessages({ ...partsOf(question), notes: { kind: "summary", text } });
  return { kind: "summary", text, messages, index: question.index, by: "model" };
}

/** Notes without a model: the requests, what was done, and exact names. */
export function outline(question: NotesQuestion): MadeNotes {
  const { input, boundary, index } = question;
  const { counter } = input.session.thread.foundation;
  const text = outlineHistory(input.history.slice(0, boundary.at), {
    tokensMax: sizesOf(question).outlineTokens,
    countText: (each) => counter.text(each),
  });
  const messages = toNotesMessages({ ...partsOf(question), notes: { kind: "outline", text } });
  return { kind: "sliding_window", text, messages, index, by: "nobody" };
}

/** What the summary replaces and what the window still holds decide its length. */
function sizesOf({ input, rules, boundary }: Omit<NotesQuestion, "index">): NoteSizes {
  const { model, thread } = input.session;
  const least = planNoteSizes(settingsOf(rules), model, 0);
  const sizes = planNoteSizes(settingsOf(rules), model, boundary.compactedTokens);
  const room = model.windowTokens - thread.end.tokens - sizes.instructionTokens;
  const summaryTokens = Math.max(least.summaryTokens, Math.min(sizes.summaryTokens, room));
  return { ...sizes, summaryTokens };
}

function partsOf(question: NotesQuestion): Omit<NotesParts, "notes"> {
  const { input, boundary, skillsLoaded, rules, index } = question;
  const { session, history } = input;
  const { repeated, at } = boundary;
  return {
    wordsText: wordsTextOf(question),
    indexText: index.text,
    skillsFreed: freedSkills(answeredIn(history.slice(0, at)), skillsLoaded),
    currentRequest: repeated.length === 0 ? null : repeated.map(({ message }) => message),
    shape: settingsOf(rules).summaryShape,
    canRecall: canRecall(session),
    keptRole: history[at]?.message.role ?? null,
  };
}

/** None after an overflow: the provider has just found the prompt too long. What follows the notes is not said twice. */
function wordsTextOf(question: NotesQuestion): string {
  const { input, boundary, trigger } = question;
  if (trigger === "overflow_recovery") return "";
  const { counter } = input.session.thread.foundation;
  const compacted = input.history.slice(0, boundary.at);
  return keepUserWords(
    compacted.filter((message) => !boundary.repeated.includes(message)),
    sizesOf(question).userWordsTokens,
    (text) => counter.text(text),
  );
}

function wordsOf({ message }: HistoryMessage): readonly string[] {
  return message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
}

/** The names in the latest request, and the few most important ones. */
function mustKeep(ask: readonly string[], index: CompactionIndex): readonly string[] {
  const asked = [...identifiersOf(ask.join("\n"))].slice(0, identifiersMax);
  const top = index.entries.slice(0, identifiersMax).map(({ text }) => text);
  return [...new Set([...asked, ...top])].slice(0, identifiersMax);
}

const identifiersMax = 12;
