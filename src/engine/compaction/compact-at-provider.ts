// The provider's own compaction: it gets the conversation and returns messages that replace it.
import { assemble, type Assembly } from "../../core/assembly/assemble.ts";
import {
  appendMessages,
  messagesFrom,
  openThread,
  type Thread,
} from "../../core/assembly/thread.ts";
import type { CacheState } from "../../core/cache/cache-state.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Message } from "../../core/message/message.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { CallOptions, ProtocolCompaction } from "../../core/wire/protocol.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import { findHindrance, whyNoCompaction } from "./compact-hindrance.ts";
import { planReading } from "./plan-reading.ts";
import type { Session } from "../../core/session/session.ts";
import { settleCall } from "../../core/turn/settle-call.ts";
import type { SummaryCall } from "../../core/session/summary-bill.ts";

export interface CompactionRequest {
  /** The part to compact: the session's thread, or its beginning up to a boundary. */
  readonly thread: Thread;
  /** Messages after it, such as results of tools that its last reply called. They are compacted too. */
  readonly pending: readonly Message[];
  /** Replaces the provider's own instructions. A provider that takes none ignores it, with a note. */
  readonly instructions?: string;
  /** The volatile text of the last call. It is part of the prefix if it stands before the messages. */
  readonly volatile?: string | null;
  /** Longest summary, including the model's thinking. */
  readonly outputTokensMax?: number;
}

export interface CompactionDeps {
  readonly provider: Pick<Provider, "send">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly signal?: AbortSignal;
}

export type ProviderCompaction =
  | ({
      readonly kind: "compacted";
      /** These messages replace the compacted part, verbatim, at the start of the history. */
      readonly messages: readonly Message[];
      readonly tokens: number;
      /** The summary as text; null if it is not readable. */
      readonly summary: string | null;
    } & CompactionAccount)
  /** The model cannot compact on its route, or the session's options forbid it. Nothing was sent. */
  | { readonly kind: "unavailable"; readonly why: string }
  | ({
      readonly kind: "failed";
      readonly reasons: readonly string[];
      /** The provider's failure; null if it was not called, or answered without a compaction. */
      readonly failure: ProviderFailure | null;
    } & CompactionAccount);

export interface CompactionAccount {
  readonly calls: readonly SummaryCall[];
  /** What the provider has cached now. */
  readonly cache: CacheState;
  readonly notes: CallEntry["notes"];
}

/** Sends one request. The provider's transport already makes the retries. */
export async function compactAtProvider(
  session: Session,
  request: CompactionRequest,
  deps: CompactionDeps,
): Promise<ProviderCompaction> {
  const { protocol, model, cache } = session;
  const { compaction } = protocol;
  if (compaction === undefined) {
    return { kind: "unavailable", why: `${protocol.name} has no compaction` };
  }
  const why = whyNoCompaction(model, compaction.findObstacle(session.options));
  if (why !== null) return { kind: "unavailable", why };
  const said = [...messagesFrom(request.thread, 0), ...request.pending];
  const hindrance = findHindrance(said);
  if (hindrance !== null) {
    return { kind: "failed", reasons: [hindrance], failure: null, calls: [], cache, notes: [] };
  }
  return ask(session, request, compaction, deps);
}

async function ask(
  session: Session,
  request: CompactionRequest,
  compaction: ProtocolCompaction,
  deps: CompactionDeps,
): Promise<ProviderCompaction> {
  const { model, cache } = session;
  const { instructions } = request;
  const startMs = deps.now();
  const options = optionsFor(session, request, compaction);
  const assembly = assembleFor(session, request);
  const keepsPrefix = compaction.keepsPrefix({ assembly, options: session.options });
  const plan = planReading(session, assembly, keepsPrefix, startMs);
  const encoded = compaction.encode({
    assembly,
    plan,
    model,
    options,
    ...(instructions === undefined ? {} : { instructions }),
  });
  const sent = await deps.provider.send({
    request: encoded,
    purpose: "compaction",
    stream: options.stream,
    ...(deps.signal === undefined ? {} : { signal: deps.signal }),
  });
  const made = { turnId: "", number: 1, assembly, plan, request: encoded, sent, startMs };
  const { entry, session: after } = settleCall(session, { ...made, endMs: deps.now() });
  const account: CompactionAccount = {
    calls: [toCall(entry, model.provider)],
    // This is another kind of request: a missing cache read refutes no promise.
    cache: keepsPrefix ? { ...cache, entries: after.cache.entries } : cache,
    notes: entry.notes,
  };
  const { outcome } = sent;
  const messages = outcome.kind === "reply" ? compaction.messagesIn(outcome) : [];
  if (messages.length > 0) {
    const tokens = countTokens(session, messages);
    return { kind: "compacted", messages, tokens, summary: summaryIn(messages), ...account };
  }
  const { failure, stopReason } = entry;
  const reason =
    failure === null
      ? `the provider answered without a compaction (stop reason: ${stopReason ?? "none"})`
      : `${failure.kind}: ${failure.detail}`;
  return { kind: "failed", reasons: [reason], failure, ...account };
}

function assembleFor({ policy, model }: Session, request: CompactionRequest): Assembly {
  const { thread, pending, volatile = null } = request;
  const { layout } = policy;
  const can = model.capabilities;
  // In other layouts the volatile text stands after the compacted part, or is part of it.
  const isPrefix = layout.volatile === "system-tail" && !can.thinkingBoundToPrefix;
  return assemble({ thread, current: pending, volatile: isPrefix ? volatile : null, layout, can });
}

/** Enough for a long summary and some thinking. The value does not affect the cache. */
const outputTokensUsual = 16_000;

function optionsFor(
  { options, model }: Session,
  { outputTokensMax }: CompactionRequest,
  { canStream }: ProtocolCompaction,
): CallOptions {
  const wanted = outputTokensMax ?? Math.max(options.outputTokensMax, outputTokensUsual);
  return {
    ...options,
    stream: options.stream && canStream,
    outputTokensMax: Math.min(wanted, model.outputTokensMax ?? wanted),
  };
}

function countTokens({ thread: { foundation } }: Session, messages: readonly Message[]): number {
  return appendMessages(openThread(foundation), messages).end.tokens - foundation.end.tokens;
}

function summaryIn(messages: readonly Message[]): string | null {
  const blocks = messages.flatMap(({ content }) => content);
  const found = blocks.find((block) => block.type === "compaction");
  return found?.content ?? null;
}

function toCall(entry: CallEntry, provider: string): SummaryCall {
  const { startMs, endMs, model, status, usage, discarded, costPicoUsd, failure } = entry;
  return { startMs, endMs, model, provider, status, usage, discarded, costPicoUsd, failure };
}
