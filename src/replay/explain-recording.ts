// Explains for every recorded call with usage why it read less from the cache than it could have.
import type { Explanation } from "../core/diagnosis/explanation.ts";
import type { TrackedEntry } from "../core/diagnosis/kept-prefixes.ts";
import { keepsEveryPrefix } from "../core/cache/expect-bill.ts";
import { viewPrompt } from "../core/diagnosis/prompt-view.ts";
import { rememberCall } from "../core/diagnosis/remember-call.ts";
import { promptTokens, writtenTokens, type Lifetime, type Usage } from "../core/message/usage.ts";
import type { CacheRules } from "../core/models/cache-rules.ts";
import type { Catalogue } from "../core/models/catalogue.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import { prefixEnds, type PrefixEnd } from "./cut-read.ts";
import { findUnreadBlock, type UnreadBlock } from "./first-unread.ts";
import { holdsThinking, judgeCall, type ThreadWalk, type Verdict } from "./judge-call.ts";
import type { Recorded, RecordedBlock, RecordedRequest, RecordedSession } from "./recording.ts";
import { toForeignRequest, writtenLifetime } from "./recorded-request.ts";
import { createModelLookup } from "./replay-model.ts";

export interface ExplainedCall {
  readonly sessionId: string;
  readonly file: string;
  /** Within its session, from 1. */
  readonly call: number;
  /** Empty for the main thread. */
  readonly thread: string;
  readonly model: string;
  /** Null if the recording has no time. */
  readonly startMs: number | null;
  /** Since the start of the thread's previous call; null for the first call or without times. */
  readonly gapMs: number | null;
  readonly usage: Usage;
  /** Tokens that the thread's previous call left readable and this call did not read, sent again or not. */
  readonly shortfallTokens: number;
  readonly explanation: Explanation;
  /** For a miss, the first unread block; only with excerpts and recorded content. */
  readonly firstUnread?: UnreadBlock;
  /** Whether the cause follows from recorded blocks, or is inferred from bills and replies. */
  readonly evidence: Verdict["evidence"];
}

/** Every call with usage, in the order of the recordings. Holds one workspace in memory at a time. */
export async function* explainRecordings(
  recordings: AsyncIterable<Recorded>,
  onSkipped: (skipped: Extract<Recorded, { type: "skipped" }>) => void = () => {},
  catalogue?: Catalogue,
): AsyncGenerator<ExplainedCall> {
  let workspace = openWorkspace("");
  const lookUp = createModelLookup(null, catalogue);
  for await (const recorded of recordings) {
    if (recorded.type === "skipped") onSkipped(recorded);
    else if (recorded.type === "session") {
      const { session } = recorded;
      if (session.workspace !== workspace.name) {
        yield* takeCalls(workspace, "all");
        workspace = openWorkspace(session.workspace);
      }
      workspace.sessions.set(session.id, {
        session,
        workspace,
        threads: new Map(),
        ends: [],
        calls: 0,
      });
    } else {
      const session = workspace.sessions.get(recorded.sessionId);
      if (session === undefined) continue;
      const { facts } = lookUp(session.session, recorded.request);
      explainNext(session, recorded.request, facts);
      yield* takeCalls(workspace, "ready");
    }
  }
  yield* takeCalls(workspace, "all");
}

interface Workspace {
  readonly name: string;
  readonly sessions: Map<string, SessionWalk>;
  /** Entries of all threads, because sub-agents read each other's. */
  entries: readonly TrackedEntry[];
  /** The lifetime the client uses, as far as its bills show. */
  lifetime: Lifetime;
  /** Calls not passed on yet, in order. */
  readonly waiting: WaitingCall[];
}

interface WaitingCall {
  readonly thread: string;
  call: ExplainedCall;
  /** The call instead, if its reply contains thinking; null once the reply is known or does not matter. */
  ifReplyThinks: ExplainedCall | null;
}

/** Removes and returns the calls up to the first one that waits for its reply, or all. */
function takeCalls({ waiting }: Workspace, which: "ready" | "all"): ExplainedCall[] {
  const first = waiting.findIndex(({ ifReplyThinks }) => ifReplyThinks !== null);
  const count = which === "all" || first === -1 ? waiting.length : first;
  return waiting.splice(0, count).map(({ call }) => call);
}

/** Passes on the reply to the thread's last call, which its next request contains. */
function hearReply({ waiting }: Workspace, thread: string, reply: readonly RecordedBlock[]): void {
  for (const each of waiting) {
    if (each.thread !== thread || each.ifReplyThinks === null) continue;
    if (holdsThinking(reply)) each.call = each.ifReplyThinks;
    each.ifReplyThinks = null;
  }
}

interface SessionWalk {
  readonly session: RecordedSession;
  readonly workspace: Workspace;
  readonly threads: Map<string, ThreadWalk>;
  readonly ends: PrefixEnd[];
  calls: number;
}

function openWorkspace(name: string): Workspace {
  return { name, sessions: new Map(), entries: [], lifetime: "5m", waiting: [] };
}

function explainNext(walk: SessionWalk, request: RecordedRequest, facts: ModelFacts): void {
  walk.calls += 1;
  const { session, workspace } = walk;
  const { usage } = request;
  const thread = walk.threads.get(request.thread) ?? null;
  const threadName = `${session.id}\n${request.thread}`;
  if (thread !== null) hearReply(workspace, threadName, replyIn(request, thread));
  const blocks = [...(thread?.blocks.slice(0, request.keep) ?? []), ...request.append];
  workspace.lifetime = writtenLifetime(usage) ?? workspace.lifetime;
  const { lifetime } = workspace;
  const view = viewPrompt(toForeignRequest({ session, request, blocks, facts, lifetime }), facts);
  const startMs = request.startMs ?? thread?.startMs ?? 0;
  const own = keepsEveryPrefix(facts.cache);
  const entries = own ? (thread?.last.entries ?? []) : workspace.entries;
  const { ends } = walk;
  const asked = { session, thread, request, blocks, view, facts, entries, ends, startMs };
  const verdict: Verdict = request.found ?? judgeCall(asked);
  const readableMs = request.endMs ?? startMs;
  const last = rememberCall({ view, rules: facts, usage, entries, startMs, readableMs });
  const { settings } = request;
  const hasThought = thread?.hasThought === true || holdsThinking(blocks);
  walk.threads.set(request.thread, { blocks, last, usage, settings, startMs, hasThought });
  workspace.entries = last.entries;
  if (usage === null) return;
  ends.push(...prefixEnds(usage, walk.calls, facts));
  const before = thread?.usage ?? null;
  const isTimed = thread !== null && request.startMs !== null;
  const firstUnread = isMiss(verdict.explanation)
    ? findUnreadBlock({ view, blocks, usage, entries, before: thread?.last ?? null })
    : null;
  const { explanation, evidence, ifReplyThinks } = verdict;
  const explained: ExplainedCall = {
    sessionId: session.id,
    file: session.file,
    call: walk.calls,
    thread: request.thread,
    model: facts.id,
    startMs: request.startMs,
    gapMs: isTimed ? startMs - thread.startMs : null,
    usage,
    shortfallTokens: Math.max(0, keptTokens(before, facts.cache) - usage.cacheReadTokens),
    ...(firstUnread === null ? {} : { firstUnread }),
    explanation,
    // Of such a recording nothing but bills is known.
    evidence: session.blocks === "from bills" ? "inferred" : evidence,
  };
  workspace.waiting.push({
    thread: threadName,
    call: explained,
    ifReplyThinks:
      ifReplyThinks === undefined
        ? null
        : { ...explained, explanation: ifReplyThinks, evidence: "inferred" },
  });
}

/** The reply to a thread's last call, as the next request sends it back. */
function replyIn(
  { keep, append }: RecordedRequest,
  { blocks }: ThreadWalk,
): readonly RecordedBlock[] {
  if (keep < blocks.length) return [];
  const end = append.findIndex(({ role }) => role !== "assistant");
  return append.slice(0, end === -1 ? append.length : end);
}

export function isMiss({ cause }: Explanation): boolean {
  return cause !== "no miss" && cause !== "first call";
}

function keptTokens(usage: Usage | null, rules: CacheRules): number {
  if (usage === null) return 0;
  return keepsEveryPrefix(rules)
    ? promptTokens(usage)
    : usage.cacheReadTokens + writtenTokens(usage);
}
