// Why one recorded call read less than it could have: from its blocks, otherwise from bills and replies.
import { isLive } from "../../core/cache/cache-state.ts";
import { keepsEveryPrefix, wholeSteps } from "../../core/cache/expect-bill.ts";
import { explainCall } from "../../core/diagnosis/explain-call.ts";
import { adviseOn, type Explanation, type MissCause } from "../../core/diagnosis/explanation.ts";
import { describePlace } from "../../core/diagnosis/find-divergence.ts";
import type { TrackedEntry } from "../../core/diagnosis/kept-prefixes.ts";
import type { PromptView } from "../../core/diagnosis/prompt-view.ts";
import { scaledRuler, type RememberedCall } from "../../core/diagnosis/remember-call.ts";
import type { Usage } from "../../core/message/usage.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { withExcerpts } from "./first-unread.ts";
import { findCutRead, type PrefixEnd } from "./cut-read.ts";
import type { RecordedBlock, RecordedRequest, RecordedSession } from "../recording.ts";
import { findUnseenChange } from "./unseen-change.ts";

export interface Verdict {
  readonly explanation: Explanation;
  /** Whether the cause follows from recorded blocks, or is inferred from bills and replies. */
  readonly evidence: "recorded" | "inferred";
  /** The explanation to use if the reply to this call contains thinking. */
  readonly ifReplyThinks?: Explanation;
}

/** The state of a thread after its last call. */
export interface ThreadWalk {
  readonly blocks: readonly RecordedBlock[];
  readonly view: PromptView;
  readonly last: RememberedCall;
  readonly usage: Usage | null;
  readonly settings: RecordedRequest["settings"];
  readonly startMs: number;
  /** Whether any of its requests contained thinking. */
  readonly hasThought: boolean;
}

export interface CallToExplain {
  readonly session: RecordedSession;
  readonly thread: ThreadWalk | null;
  readonly request: RecordedRequest;
  readonly blocks: readonly RecordedBlock[];
  readonly view: PromptView;
  readonly facts: ModelFacts;
  readonly entries: readonly TrackedEntry[];
  /** From the session's earlier calls. */
  readonly ends: readonly PrefixEnd[];
  readonly startMs: number;
}

/** Explains from the recorded blocks, otherwise from the bills. */
export function judgeCall(call: CallToExplain): Verdict {
  const { session, thread, request, blocks, view, facts, startMs } = call;
  const { usage } = request;
  const before = thread === null ? null : rememberedOf(call, thread);
  const found = explainCall({ before, view, rules: facts, usage, startMs, textBefore: noText });
  if (thread === null || usage === null) return { explanation: found, evidence: "recorded" };
  const shown = withExcerpts(found, thread, call);
  const recorded = { explanation: shown, evidence: "recorded" } as const;
  // The recording says it is the same conversation, so its history was rewritten.
  if (found.cause === "nothing was marked" && request.keep < thread.blocks.length) {
    const rewritten = { cause: "history rewritten", detail: null } as const;
    return { ...recorded, explanation: withCause(found, call, rewritten) };
  }
  if (found.cause !== "provider lost it" || thread.usage === null) return recorded;
  const unseen = findUnseenChange({
    before: { usage: thread.usage, settings: thread.settings },
    now: { usage, settings: request.settings },
    blocks,
    appended: request.append,
    isWhole: session.isWhole,
    tokenizer: facts.tokenizer,
  });
  if (unseen !== null) return { explanation: withCause(found, call, unseen), evidence: "inferred" };
  // A marked prefix above the minimum is read or written, so the markers we assumed were not there.
  const isUnmarked = thread.last.kept === null && request.markers === null;
  if (isUnmarked) return { explanation: withCause(found, call, notMarked), evidence: "inferred" };
  const left = nameRest(found, call, thread);
  if (!mayHaveSwitchedThinking(call, thread)) return left;
  return { ...left, ifReplyThinks: withCause(found, call, thinkingSwitched) };
}

/** Entries of the whole workspace count, unless the provider keeps every prefix: then the last call has the longest. */
function rememberedOf(call: CallToExplain, { last }: ThreadWalk): RememberedCall {
  return keepsEveryPrefix(call.facts.cache) ? last : { ...last, entries: call.entries };
}

const notMarked: { readonly cause: MissCause; readonly detail: string } = {
  cause: "nothing was marked",
  detail: "the call before neither read nor wrote",
};

/** What is left to say if everything recorded was as before and in time. */
function nameRest(found: Explanation, call: CallToExplain, thread: ThreadWalk): Verdict {
  const { session, facts, ends, view } = call;
  // Nothing is missing from the recording, so only the provider can have lost it.
  if (session.isWhole) return { explanation: found, evidence: "recorded" };
  const blocks = { first: firstUnread(found, call) + 1, last: (thread.last.kept?.block ?? 0) + 1 };
  const last = Math.min(blocks.last, view.blocks.length);
  const isHeadKept = hasKeptHead(call);
  const cut = findCutRead({ found, facts, ends, isHeadKept, blocks: { ...blocks, last } });
  if (cut !== null) return { explanation: withCause(found, call, cut), evidence: "inferred" };
  return { explanation: { ...found, advice: unknownAdvice }, evidence: "recorded" };
}

function hasKeptHead({ view, facts, request, entries, startMs }: CallToExplain): boolean {
  const head = view.blocks.findIndex(({ tier }) => tier === "T3") - 1;
  if (keepsEveryPrefix(facts.cache)) {
    return wholeSteps(scaledRuler(view, request.usage)(head), facts.cache) > 0;
  }
  return entries.some(
    (entry) =>
      entry.block <= head && view.blocks[entry.block]?.key === entry.key && isLive(entry, startMs),
  );
}

/** Transcripts lack the setting, but replies show it. */
const thinkingSwitched: { readonly cause: MissCause; readonly detail: string } = {
  cause: "parameter changed",
  detail: "thinking: off → on, as the replies show",
};

/** Whether thinking in this reply would prove a switch: earlier replies had none, although it would have been sent back. */
function mayHaveSwitchedThinking(
  { request, blocks, facts }: CallToExplain,
  thread: ThreadWalk,
): boolean {
  const losesMessages = facts.cache.invalidation.some(
    ({ change, survives }) => change === "thinking" && !survives.includes("messages"),
  );
  const isRecorded = [thread.settings, request.settings].some((each) => "thinking" in each);
  // Clients change modes only between turns.
  const last = request.append.at(-1);
  const isUserTurn = last?.role === "user" && last.kind === "text";
  // Thinking before a tool call must be sent back with its result.
  const wouldShow = blocks.some(({ kind }) => kind === "tool_use");
  const hasThought = thread.hasThought || holdsThinking(blocks);
  return losesMessages && !isRecorded && isUserTurn && wouldShow && !hasThought;
}

export function holdsThinking(blocks: readonly RecordedBlock[]): boolean {
  return blocks.some(({ kind }) => kind === "thinking" || kind === "redacted_thinking");
}

/** Transcripts lack parts of the request, so the cause stays open. */
const unknownAdvice =
  "All that is recorded was as before and in time: the provider dropped the entry, or something changed that the recording does not hold, such as a setting.";

/** Recordings contain hashes, not text. */
function noText(): undefined {}

function withCause(
  found: Explanation,
  { view, facts, thread, request, startMs }: CallToExplain,
  { cause, detail }: { readonly cause: MissCause; readonly detail: string | null },
): Explanation {
  const block = describePlace(view.blocks, firstUnread(found, { view, request }));
  const about = {
    gapMs: startMs - (thread?.startMs ?? startMs),
    minimumTokens: facts.cache.minimumTokens,
    isBestEffort: facts.cache.automatic?.bestEffort === true,
    section: block?.section ?? null,
    detail,
  };
  return { ...found, cause, detail, block, advice: adviseOn(cause, about) };
}

/** By our own count, so it can be one block off. */
function firstUnread(
  { reportedReadTokens }: Explanation,
  { view, request }: Pick<CallToExplain, "view" | "request">,
): number {
  const ruler = scaledRuler(view, request.usage);
  return view.blocks.findIndex((_, index) => ruler(index) > reportedReadTokens);
}
