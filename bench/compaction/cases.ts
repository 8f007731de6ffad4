// Recorded sessions cut where a compaction would be: the compacted part, the kept part, and what came afterwards.
import { basename } from "node:path";
import { recordingsIn } from "../../harness/traces.ts";
import type { HistoryMessage } from "../../src/core/compaction/history.ts";
import { findBoundary, type Boundary } from "../../src/core/compaction/plan/find-boundary.ts";
import type { Message } from "../../src/core/message/message.ts";
import { findModel } from "../../src/core/models/resolve-model.ts";
import { loadO200k } from "../../src/core/tokens/o200k/counter.ts";
import { createTokenCounter, type TokenCounter } from "../../src/core/tokens/token-counter.ts";
import { readTraceSteps, type TraceStep } from "./trace-session.ts";

export interface CompactionCase {
  /** The recording's name, with a number for its second and later compactions. */
  readonly id: string;
  readonly model: string;
  /** Messages up to the cut: the compacted and the kept part. */
  readonly history: readonly HistoryMessage[];
  /** Index in `history` where the kept tail begins. */
  readonly tailFrom: number;
  /** The request of the turn that is cut, which the compaction repeats word for word. */
  readonly repeated: readonly HistoryMessage[];
  /** The messages after the cut, in order. */
  readonly after: readonly HistoryMessage[];
  readonly windowTokens: number;
  /** Counts tokens of the session's model. */
  readonly countText: (text: string) => number;
}

/** Sessions of at least 40k tokens, cut at each recorded compaction, otherwise at 60 % of the largest context. */
export async function* readCompactionCases(
  folder: string,
  progress: (line: string) => void,
): AsyncGenerator<CompactionCase> {
  const files = recordingsIn(folder);
  const textCounter = await loadO200k();
  const read = { sessions: 0, cases: 0 };
  for (const file of files) {
    const steps: TraceStep[] = [];
    for await (const step of readTraceSteps(file)) steps.push(step);
    const model = steps[0]?.model ?? "";
    const facts = findModel(model)?.facts;
    const counter = createTokenCounter(textCounter, facts?.tokenizer ?? "other");
    const windowTokens = facts?.windowTokens ?? usualWindowTokens;
    const common = { model, windowTokens, countText: (text: string) => counter.text(text) };
    const cuts = findCuts(steps, counter);
    if (cuts.length > 0) read.sessions += 1;
    for (const [index, cut] of cuts.entries()) {
      const id = basename(file, ".jsonl") + (index === 0 ? "" : `#${index + 1}`);
      const history = toHistory(cut.before, "h", counter);
      const tail = findTail(history);
      if (tail === null || cut.after.length === 0) continue;
      read.cases += 1;
      const { at: tailFrom, repeated } = tail;
      const after = toHistory(cut.after, "a", counter);
      yield { id, ...common, history, tailFrom, repeated, after };
    }
  }
  progress(`${read.cases} cuts in ${read.sessions} of ${files.length} sessions`);
}

const usualWindowTokens = 200_000;
const sessionTokensMin = 40_000;
const cutShare = 0.6;

interface Cut {
  readonly before: readonly Message[];
  readonly after: readonly Message[];
}

/** A part of the recording without a compaction. */
interface Stretch {
  readonly messages: readonly Message[];
  readonly tokensMax: number;
  /** Ends of the requests above 60 % of the largest context, in messages. */
  readonly passedAt: readonly number[];
}

function findCuts(steps: readonly TraceStep[], counter: TokenCounter): Cut[] {
  const stretches = splitAtCompactions(steps, counter);
  const last = stretches.at(-1);
  if (stretches.length === 1 && last !== undefined) {
    if (last.tokensMax < sessionTokensMin) return [];
    const cuts = last.passedAt.map((at) => cutAt(last.messages, at));
    // If results of the last call are most of the history, there is nothing to compact yet.
    const worthwhile = cuts.find(({ before }) => isWorthwhile(toHistory(before, "h", counter)));
    return [worthwhile ?? cutAt(last.messages, last.passedAt[0] ?? 0)];
  }
  return stretches.flatMap((stretch, index) => {
    const next = stretches[index + 1];
    if (next === undefined || stretch.tokensMax < sessionTokensMin) return [];
    return [{ before: stretch.messages, after: withoutSummary(next.messages, counter) }];
  });
}

function cutAt(messages: readonly Message[], at: number): Cut {
  return { before: messages.slice(0, at), after: messages.slice(at) };
}

/** A compaction keeps few or no messages and continues with a much smaller context. */
function splitAtCompactions(steps: readonly TraceStep[], counter: TokenCounter): Stretch[] {
  const stretches: Stretch[] = [];
  let messages: Message[] = [];
  let tokens: number[] = [];
  let sums: { readonly at: number; readonly tokens: number }[] = [];
  const close = (reply: Message | null): void => {
    const tokensMax = Math.max(0, ...sums.map((each) => each.tokens));
    const passed = sums.filter((each) => each.tokens > tokensMax * cutShare);
    const passedAt = passed.map(({ at }) => at);
    const all = reply === null || asksTools(reply) ? messages : [...messages, reply];
    stretches.push({ messages: all, tokensMax, passedAt });
  };
  for (const [index, step] of steps.entries()) {
    const added = step.appended.map((message) => counter.message(message));
    const total = sum(tokens.slice(0, step.keep)) + sum(added);
    if (index > 0 && step.keep < messages.length / 2 && total < sum(tokens) / 2) {
      close(steps[index - 1]?.reply ?? null);
      [messages, tokens, sums] = [[], [], []];
    }
    messages = [...messages.slice(0, step.keep), ...step.appended];
    tokens = [...tokens.slice(0, step.keep), ...added];
    sums = [...sums.filter(({ at }) => at <= step.keep), { at: messages.length, tokens: total }];
  }
  const reply = steps.at(-1)?.reply ?? null;
  close(null);
  const last = stretches.at(-1);
  if (last === undefined || reply === null) return stretches;
  return [...stretches.slice(0, -1), { ...last, messages: [...last.messages, reply] }];
}

function asksTools(message: Message): boolean {
  return message.content.some((block) => block.type === "tool_use");
}

/** A shorter text is not a summary but the user's next message. */
const summaryTokensMin = 500;

/** Removes the recorded client's summary of the compacted part, because ours replaces it. */
function withoutSummary(messages: readonly Message[], counter: TokenCounter): readonly Message[] {
  const [first] = messages;
  const isSummary = first?.role === "user" && counter.message(first) >= summaryTokensMin;
  return isSummary ? messages.slice(1) : messages;
}

/** A turn lasts from one user message to the next. */
function toHistory(
  messages: readonly Message[],
  prefix: string,
  counter: TokenCounter,
): HistoryMessage[] {
  let [turn, index] = [0, 0];
  return messages.map((message, place) => {
    const opens = message.role === "user" && messages[place - 1]?.role !== "user";
    if (opens && place > 0) [turn, index] = [turn + 1, 0];
    const turnId = `${prefix}${String(turn).padStart(5, "0")}`;
    const at = { turnId, index, message, tokens: counter.message(message) };
    index += 1;
    return at;
  });
}

const tailTokensMax = 20_000;
const tailShare = 0.2;
/** Limit for tail, summary, index and repeated text together. */
const keptShareMax = 0.25;
const summaryAndIndexTokens = 3_500;

/** The boundary as the engine finds it in a window that the history fills: as much as fits, with whole tool pairs. */
function findTail(history: readonly HistoryMessage[]): Boundary | null {
  const total = sum(history.map(({ tokens }) => tokens));
  const find = (repeatedTokens: number): Boundary | null => {
    const room = total * keptShareMax - summaryAndIndexTokens - repeatedTokens;
    const keepTokensMax = Math.max(1, Math.min(tailTokensMax, total * tailShare, room));
    const keepTokens = keepTokensMax;
    return findBoundary(history, { keepTokens, keepTokensMax, turnsMin: 1, mayCutInside: true });
  };
  const first = find(0);
  // The repeated text is kept too, and depends on where the turn is cut.
  return first === null || first.repeatedTokens === 0 ? first : find(first.repeatedTokens);
}

function isWorthwhile(history: readonly HistoryMessage[]): boolean {
  const total = sum(history.map(({ tokens }) => tokens));
  const tail = findTail(history);
  if (tail === null) return false;
  const kept = tail.keptTokens + tail.repeatedTokens + summaryAndIndexTokens;
  return kept <= total * keptShareMax;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
