// Recorded sessions → every call with usage, and why it read less from the cache than it could have.
import { explainCall } from "../core/diagnosis/explain-call.ts";
import { adviseOn, type Explanation, type MissCause } from "../core/diagnosis/explanation.ts";
import { describePlace } from "../core/diagnosis/find-divergence.ts";
import type { TrackedEntry } from "../core/diagnosis/kept-prefixes.ts";
import { keepsEveryPrefix, viewPrompt, type PromptView } from "../core/diagnosis/prompt-view.ts";
import { rememberCall, scaledRuler, type RememberedCall } from "../core/diagnosis/remember-call.ts";
import { promptTokens, writtenTokens, type Lifetime, type Usage } from "../core/message/usage.ts";
import type { CacheRules } from "../core/models/cache-rules.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import type { Recorded, RecordedBlock, RecordedRequest, RecordedSession } from "./recording.ts";
import { toForeignRequest, writtenLifetime } from "./recorded-request.ts";
import { createModelLookup } from "./replay-model.ts";
import { findUnseenChange, type CountError } from "./unseen-change.ts";

export interface ExplainedCall {
  readonly sessionId: string;
  readonly file: string;
  /** Within its session, from 1. */
  readonly call: number;
  /** Empty for the main thread. */
  readonly thread: string;
  readonly model: string;
  /** Null where the recording does not say. */
  readonly startMs: number | null;
  /** From the start of the thread's call before; null for the first, or where a time is missing. */
  readonly gapMs: number | null;
  readonly usage: Usage;
  /** What the thread's call before left readable and this one did not read, whether it was sent again or not. */
  readonly shortfallTokens: number;
  readonly explanation: Explanation;
  /** Whether the cause follows from the recorded blocks, or only from what the bills show of the rest. */
  readonly evidence: "recorded" | "inferred";
}

type Verdict = Pick<ExplainedCall, "explanation" | "evidence">;

/** Every call with usage, in the order of the recordings. One workspace is held at a time. */
export async function* explainRecordings(
  recordings: AsyncIterable<Recorded>,
  onSkipped: (skipped: Extract<Recorded, { type: "skipped" }>) => void = () => {},
): AsyncGenerator<ExplainedCall> {
  let workspace = openWorkspace("");
  const lookUp = createModelLookup(null);
  for await (const recorded of recordings) {
    if (recorded.type === "skipped") onSkipped(recorded);
    else if (recorded.type === "session") {
      const { session } = recorded;
      if (session.workspace !== workspace.name) workspace = openWorkspace(session.workspace);
      workspace.sessions.set(session.id, { session, workspace, threads: new Map(), calls: 0 });
    } else {
      const session = workspace.sessions.get(recorded.sessionId);
      if (session === undefined) continue;
      const { facts } = lookUp(session.session, recorded.request);
      const explained = explainNext(session, recorded.request, facts);
      if (explained !== null) yield explained;
    }
  }
}

interface Workspace {
  readonly name: string;
  readonly sessions: Map<string, SessionWalk>;
  /** What any thread wrote: sub-agents read each other's. */
  entries: readonly TrackedEntry[];
  /** That clients ask for here, as far as their bills show. */
  lifetime: Lifetime;
}

interface SessionWalk {
  readonly session: RecordedSession;
  readonly workspace: Workspace;
  readonly threads: Map<string, ThreadWalk>;
  calls: number;
}

interface ThreadWalk {
  readonly blocks: readonly RecordedBlock[];
  readonly last: RememberedCall;
  readonly usage: Usage | null;
  readonly settings: RecordedRequest["settings"];
  readonly startMs: number;
}

function openWorkspace(name: string): Workspace {
  return { name, sessions: new Map(), entries: [], lifetime: "5m" };
}

function explainNext(
  walk: SessionWalk,
  request: RecordedRequest,
  facts: ModelFacts,
): ExplainedCall | null {
  walk.calls += 1;
  const { session, workspace } = walk;
  const { usage } = request;
  const thread = walk.threads.get(request.thread) ?? null;
  const blocks = [...(thread?.blocks.slice(0, request.keep) ?? []), ...request.append];
  workspace.lifetime = writtenLifetime(usage) ?? workspace.lifetime;
  const { lifetime } = workspace;
  const view = viewPrompt(toForeignRequest({ session, request, blocks, facts, lifetime }), facts);
  const startMs = request.startMs ?? thread?.startMs ?? 0;
  const own = keepsEveryPrefix(facts.cache);
  const entries = own ? (thread?.last.entries ?? []) : workspace.entries;
  const verdict = explain({ thread, request, blocks, view, facts, entries, startMs });
  const readableMs = request.endMs ?? startMs;
  const last = rememberCall({ view, rules: facts, usage, entries, startMs, readableMs });
  const { settings } = request;
  walk.threads.set(request.thread, { blocks, last, usage, settings, startMs });
  workspace.entries = last.entries;
  if (usage === null) return null;
  const before = thread?.usage ?? null;
  const isTimed = thread !== null && request.startMs !== null;
  return {
    sessionId: session.id,
    file: session.file,
    call: walk.calls,
    thread: request.thread,
    model: facts.id,
    startMs: request.startMs,
    gapMs: isTimed ? startMs - thread.startMs : null,
    usage,
    shortfallTokens: Math.max(0, keptTokens(before, facts.cache) - usage.cacheReadTokens),
    ...verdict,
  };
}

function keptTokens(usage: Usage | null, rules: CacheRules): number {
  if (usage === null) return 0;
  return keepsEveryPrefix(rules)
    ? promptTokens(usage)
    : usage.cacheReadTokens + writtenTokens(usage);
}

interface CallToExplain {
  readonly thread: ThreadWalk | null;
  readonly request: RecordedRequest;
  readonly blocks: readonly RecordedBlock[];
  readonly view: PromptView;
  readonly facts: ModelFacts;
  readonly entries: readonly TrackedEntry[];
  readonly startMs: number;
}

/** By what is recorded; where that explains nothing, by what the bills show of the rest. */
function explain(call: CallToExplain): Verdict {
  const { thread, request, blocks, view, facts, entries, startMs } = call;
  const { usage } = request;
  const before = thread === null ? null : { ...thread.last, entries };
  const said = explainCall({ before, view, rules: facts, usage, startMs, textBefore: noText });
  const recorded = { explanation: said, evidence: "recorded" } as const;
  if (thread === null || usage === null) return recorded;
  // The recording says that it is the same conversation: then this is no other one on the same beginning.
  if (said.cause === "nothing was marked" && request.keep < thread.blocks.length) {
    const rewritten = { cause: "history rewritten", detail: null } as const;
    return { ...recorded, explanation: withCause(said, call, rewritten) };
  }
  if (said.cause !== "provider lost it" || thread.usage === null) return recorded;
  const unseen = findUnseenChange({
    before: { usage: thread.usage, settings: thread.settings },
    now: { usage, settings: request.settings },
    blocks,
    appended: request.append,
    countError: facts.tokenizer === "o200k" ? exactCounts : estimatedCounts,
  });
  if (unseen === null) return { ...recorded, explanation: { ...said, advice: unknownAdvice } };
  return { explanation: withCause(said, call, unseen), evidence: "inferred" };
}

/** Transcripts leave out what a raw request shows, so nobody can be blamed. */
const unknownAdvice =
  "All that is recorded was as before and in time: the provider dropped the entry, or something changed that the recording does not hold, such as a setting.";

/** Recordings hold hashes. */
function noText(): undefined {}

/** Where the tokenizer is the model's own. */
const exactCounts: CountError = { tokens: 64, share: 0.05 };
const estimatedCounts: CountError = { tokens: 512, share: 0.25 };

function withCause(
  said: Explanation,
  { view, facts, thread, request, startMs }: CallToExplain,
  { cause, detail }: { readonly cause: MissCause; readonly detail: string | null },
): Explanation {
  const ruler = scaledRuler(view, request.usage);
  const at = view.blocks.findIndex((_, index) => ruler(index) > said.reportedReadTokens);
  const block = describePlace(view.blocks, at);
  const about = {
    gapMs: startMs - (thread?.startMs ?? startMs),
    minimumTokens: facts.cache.minimumTokens,
    isBestEffort: facts.cache.automatic?.bestEffort === true,
    section: block?.section ?? null,
    detail,
  };
  return { ...said, cause, detail, block, advice: adviseOn(cause, about) };
}
