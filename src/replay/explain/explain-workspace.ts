// The calls of one workspace, one after the other: each is compared with what the calls before it left at the provider.
import type { Explanation } from "../../core/diagnosis/explanation.ts";
import type { TrackedEntry } from "../../core/diagnosis/kept-prefixes.ts";
import { keepsEveryPrefix } from "../../core/cache/expect-bill.ts";
import { viewPrompt } from "../../core/diagnosis/prompt-view.ts";
import { rememberView } from "../../core/diagnosis/remember-call.ts";
import {
  promptTokens,
  writtenTokens,
  type Lifetime,
  type Usage,
} from "../../core/message/usage.ts";
import type { CacheRules } from "../../core/models/cache-rules.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { prefixEnds, type PrefixEnd } from "./cut-read.ts";
import { isMiss, type ExplainedCall } from "./explained-call.ts";
import { findUnreadBlock } from "./first-unread.ts";
import { holdsThinking, judgeCall, type ThreadWalk, type Verdict } from "./judge-call.ts";
import type { RecordedBlock, RecordedRequest, RecordedSession } from "../recording.ts";
import { toForeignRequest, writtenLifetime } from "../recorded-request.ts";

export interface Explainer {
  /** The next call of a session; only calls with usage are given back. */
  add(session: RecordedSession, request: RecordedRequest, facts: ModelFacts): void;
  /** Removes and returns the calls up to the first one that waits for its reply, or all. */
  take(which: "ready" | "all"): ExplainedCall[];
}

export function openExplainer(): Explainer {
  const workspace: Workspace = { sessions: new Map(), entries: [], lifetime: "5m", waiting: [] };
  return {
    add(session, request, facts) {
      const walk = workspace.sessions.get(session.id) ?? {
        session,
        workspace,
        threads: new Map(),
        ends: [],
        calls: 0,
      };
      workspace.sessions.set(session.id, walk);
      explainNext(walk, request, facts);
    },
    take: (which) => takeCalls(workspace, which),
  };
}

interface Workspace {
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
  const seen = thread?.view ?? null;
  const parts = { session, request, blocks, before: seen?.request.blocks ?? [], facts, lifetime };
  const view = viewPrompt(toForeignRequest(parts), facts, seen);
  const startMs = request.startMs ?? thread?.startMs ?? 0;
  const own = keepsEveryPrefix(facts.cache);
  const { ends } = walk;
  const asked = {
    session,
    thread,
    request,
    blocks,
    view,
    facts,
    ends,
    startMs,
    // A long prompt at a provider that keeps every prefix has thousands, and most calls ask for none.
    get entries() {
      return own ? (thread?.last.entries ?? []) : workspace.entries;
    },
  };
  const verdict: Verdict = request.found ?? judgeCall(asked);
  const readableMs = request.endMs ?? startMs;
  const entries = own ? [] : workspace.entries;
  const remembered = rememberView({ view, rules: facts, usage, entries, startMs, readableMs });
  const { settings } = request;
  const hasThought = thread?.hasThought === true || holdsThinking(blocks);
  const now = { blocks, view, last: remembered, usage, settings, startMs, hasThought };
  walk.threads.set(request.thread, now);
  if (!own) workspace.entries = remembered.entries;
  if (usage === null) return;
  ends.push(...prefixEnds(usage, walk.calls, facts));
  const firstUnread = isMiss(verdict.explanation)
    ? findUnreadBlock({ view, blocks, usage, entries: asked.entries, before: thread?.last ?? null })
    : null;
  const { explanation, ifReplyThinks } = verdict;
  const isTimed = thread !== null && request.startMs !== null;
  const explained: ExplainedCall = {
    sessionId: session.id,
    file: session.file,
    call: walk.calls,
    thread: request.thread,
    model: facts.id,
    startMs: request.startMs,
    gapMs: isTimed ? startMs - thread.startMs : null,
    usage,
    shortfallTokens: shortfallOf(thread, usage, facts.cache),
    ...(firstUnread === null ? {} : { firstUnread }),
    explanation,
    // Of a recording of bills nothing else is known.
    evidence: session.blocks === "from bills" ? "inferred" : verdict.evidence,
  };
  workspace.waiting.push({
    thread: threadName,
    call: explained,
    ifReplyThinks: ifReplyThinks === undefined ? null : inferred(explained, ifReplyThinks),
  });
}

function inferred(call: ExplainedCall, explanation: Explanation): ExplainedCall {
  return { ...call, explanation, evidence: "inferred" };
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

function shortfallOf(thread: ThreadWalk | null, usage: Usage, rules: CacheRules): number {
  return Math.max(0, keptTokens(thread?.usage ?? null, rules) - usage.cacheReadTokens);
}

function keptTokens(usage: Usage | null, rules: CacheRules): number {
  if (usage === null) return 0;
  return keepsEveryPrefix(rules)
    ? promptTokens(usage)
    : usage.cacheReadTokens + writtenTokens(usage);
}
