// Recorded sessions → every call that read less from the cache than it could have, each with its cause.
import { explainCall } from "../core/diagnosis/explain-call.ts";
import type { Explanation } from "../core/diagnosis/explanation.ts";
import type {
  ForeignBlock,
  ForeignMarker,
  ForeignRequest,
  RequestSettings,
} from "../core/diagnosis/foreign-request.ts";
import type { TrackedEntry } from "../core/diagnosis/kept-prefixes.ts";
import { keepsEveryPrefix, viewPrompt } from "../core/diagnosis/prompt-view.ts";
import { rememberCall, type RememberedCall } from "../core/diagnosis/remember-call.ts";
import { emptyPrefixKey, extendPrefixKey } from "../core/hash.ts";
import { writtenTokens, type Lifetime, type Usage } from "../core/message/usage.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import type {
  Recorded,
  RecordedBlock,
  RecordedMarker,
  RecordedRequest,
  RecordedSession,
} from "./recording.ts";
import { findUnseenChange } from "./unseen-change.ts";
import { createModelLookup } from "./replay-model.ts";

/** One call with usage, and what is to be said of it. */
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
  /** What the thread's call before left readable and this one did not read, sent again or not. */
  readonly shortfallTokens: number;
  readonly explanation: Explanation;
}

/** Calls with usage, in the order of the recordings. One session is held at a time. */
export async function* explainRecordings(
  recordings: AsyncIterable<Recorded>,
): AsyncGenerator<ExplainedCall> {
  let current: SessionWalk | null = null;
  for await (const recorded of recordings) {
    if (recorded.type === "session") current = openWalk(recorded.session);
    else if (recorded.type === "request" && current !== null) {
      const explained = explainNext(current, recorded.request);
      if (explained !== null) yield explained;
    }
  }
}

interface SessionWalk {
  readonly session: RecordedSession;
  readonly lookUp: ReturnType<typeof createModelLookup>;
  readonly threads: Map<string, Thread>;
  /** What any thread wrote: sub-agents read each other's. */
  entries: readonly TrackedEntry[];
  /** That the client asks for, as far as its bills show. */
  lifetime: Lifetime;
  calls: number;
}

interface Thread {
  blocks: RecordedBlock[];
  last: RememberedCall | null;
  lastUsage: Usage | null;
  lastMs: number | null;
}

function openWalk(session: RecordedSession): SessionWalk {
  return {
    session,
    lookUp: createModelLookup(null),
    threads: new Map(),
    entries: [],
    lifetime: "5m",
    calls: 0,
  };
}

function explainNext(walk: SessionWalk, request: RecordedRequest): ExplainedCall | null {
  walk.calls += 1;
  const thread = walk.threads.get(request.thread) ?? {
    blocks: [],
    last: null,
    lastUsage: null,
    lastMs: null,
  };
  walk.threads.set(request.thread, thread);
  thread.blocks = [...thread.blocks.slice(0, request.keep), ...request.append];
  const { facts } = walk.lookUp(walk.session, request);
  const { usage } = request;
  walk.lifetime = lifetimeOf(usage) ?? walk.lifetime;
  const foreign = toForeign(walk, thread.blocks, request, facts);
  const view = viewPrompt(foreign, facts);
  const startMs = request.startMs ?? thread.lastMs ?? 0;
  const entries = keepsEveryPrefix(facts.cache) ? (thread.last?.entries ?? []) : walk.entries;
  const before = thread.last === null ? null : { ...thread.last, entries };
  const explanation = explainCall({
    before,
    view,
    rules: facts,
    usage,
    startMs,
    textBefore: () => undefined,
  });
  const shortfall =
    thread.lastUsage === null || usage === null
      ? 0
      : keptOf(thread.lastUsage, facts) - usage.cacheReadTokens;
  const gapMs = request.startMs === null || thread.lastMs === null ? null : startMs - thread.lastMs;
  thread.last = rememberCall({
    view,
    rules: facts,
    usage,
    entries,
    startMs,
    readableMs: request.endMs ?? startMs,
  });
  walk.entries = thread.last.entries;
  thread.lastMs = startMs;
  thread.lastUsage = usage;
  if (usage === null) return null;
  return {
    sessionId: walk.session.id,
    file: walk.session.file,
    call: walk.calls,
    thread: request.thread,
    model: facts.id,
    startMs: request.startMs,
    gapMs,
    usage,
    shortfallTokens: Math.max(0, shortfall),
    explanation,
  };
}

function keptOf(usage: Usage, facts: ModelFacts): number {
  return keepsEveryPrefix(facts.cache)
    ? usage.cacheReadTokens + usage.uncachedTokens
    : usage.cacheReadTokens + writtenTokens(usage);
}

function lifetimeOf(usage: Usage | null): Lifetime | null {
  if (usage === null) return null;
  const { cacheWriteTokens } = usage;
  if ((cacheWriteTokens["1h"] ?? 0) > 0) return "1h";
  return (cacheWriteTokens["5m"] ?? 0) > 0 ? "5m" : null;
}

function toForeign(
  walk: SessionWalk,
  recorded: readonly RecordedBlock[],
  request: RecordedRequest,
  facts: ModelFacts,
): ForeignRequest {
  let key = emptyPrefixKey;
  let endTokens = 0;
  const blocks = recorded.map((block, index): ForeignBlock => {
    key = extendPrefixKey(key, block.hash);
    endTokens += block.tokens;
    const { hash, tokens, tier, kind, role, endsMessage, mayCarryMarker } = block;
    return {
      key,
      hash,
      tokens,
      endTokens,
      tier,
      kind,
      role,
      endsMessage,
      mayCarryMarker,
      path: `blocks.${index}`,
      section: `${kind} ${index}`,
      text: "",
    };
  });
  const isMarked = facts.cache.markers !== null && walk.session.wire === "anthropic-messages";
  const markers = !isMarked
    ? []
    : toMarkers(request.markers ?? usualMarkers(recorded, walk.lifetime));
  return {
    protocol: walk.session.wire ?? "anthropic-messages",
    model: request.model ?? facts.id,
    blocks,
    markers,
    requestMarker: null,
    strayMarkers: [],
    mode: walk.session.wire === "anthropic-messages" ? "explicit" : "implicit",
    ownLifetime: null,
    settings: settingsOf(request, facts),
    keepsThinking: false,
    continues: false,
  };
}

function toMarkers(markers: readonly RecordedMarker[]): ForeignMarker[] {
  return markers.map((marker) => ({ ...marker, path: `blocks.${marker.block}` }));
}

function usualMarkers(
  blocks: readonly RecordedBlock[],
  lifetime: Lifetime,
): readonly RecordedMarker[] {
  const tail = blocks.findLastIndex(({ mayCarryMarker }) => mayCarryMarker);
  const system = blocks.findLastIndex(
    ({ tier, mayCarryMarker }) => tier !== "T3" && mayCarryMarker,
  );
  return [...new Set([system, tail])]
    .filter((block) => block >= 0)
    .map((block) => ({ block, lifetime }));
}

function settingsOf({ settings }: RecordedRequest, { cache }: ModelFacts): RequestSettings {
  const known: Partial<Record<keyof RequestSettings, string>> = {};
  for (const { change } of cache.invalidation) {
    const value = settings[change];
    if (value !== undefined) known[change] = value;
  }
  return known;
}
