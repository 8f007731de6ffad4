// The provider's own compaction: it gets the conversation and returns messages that replace it.
import { messagesFrom } from "../../core/assembly/thread.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Message } from "../../core/message/message.ts";
import type { Session } from "../../core/session/session.ts";
import type { ProviderOutcome } from "../../core/turn/compaction/compacting.ts";
import type { ProviderWish } from "../../core/turn/compaction/make-notes.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { CallOptions, ProtocolCompaction } from "../../core/wire/protocol.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import { assembleSide, sendSideCall, type CallDeps } from "./side-call.ts";

export interface CompactionDeps extends CallDeps {
  readonly provider: Pick<Provider, "send">;
}

/** With the notes of its call. A failure is null if the provider was not called, or answered without a compaction. */
export type ProviderCompaction = ProviderOutcome & {
  readonly notes?: CallEntry["notes"];
  readonly failure?: ProviderFailure | null;
};

/** Sends one request. The provider's transport already makes the retries. */
export async function compactAtProvider(
  session: Session,
  wish: ProviderWish,
  deps: CompactionDeps,
): Promise<ProviderCompaction> {
  const { protocol, model, cache } = session;
  const { compaction } = protocol;
  if (compaction === undefined) {
    return { kind: "unavailable", why: `${protocol.name} has no compaction` };
  }
  const obstacle = model.capabilities.compactsOnDemand
    ? compaction.findObstacle(session.options)
    : `${model.id} does not compact on demand by ${model.route}`;
  if (obstacle !== null) return { kind: "unavailable", why: obstacle };
  const refusal = whyRefused([...messagesFrom(wish.thread, 0), ...wish.pending]);
  if (refusal !== null) {
    return { kind: "failed", reasons: [refusal], failure: null, calls: [], cache, notes: [] };
  }
  return ask(session, wish, compaction, deps);
}

async function ask(
  session: Session,
  { thread, pending, volatile, instructions, outputTokensMax }: ProviderWish,
  compaction: ProtocolCompaction,
  deps: CompactionDeps,
): Promise<ProviderCompaction> {
  const { cache } = session;
  const assembly = assembleSide(session, thread, pending, volatile);
  const keepsPrefix = compaction.keepsPrefix({ assembly, options: session.options });
  const side = {
    provider: deps.provider,
    assembly,
    options: optionsFor(session, outputTokensMax, compaction),
    keepsPrefix,
    purpose: "compaction" as const,
    encode: (call: Parameters<ProtocolCompaction["encode"]>[0]) =>
      compaction.encode({ ...call, ...(instructions !== undefined && { instructions }) }),
  };
  const { outcome, entry, call, after } = await sendSideCall(session, side, deps);
  const account = {
    calls: [call],
    // This is another kind of request: a missing cache read refutes no promise.
    cache: keepsPrefix ? { ...cache, entries: after.cache.entries } : cache,
    notes: entry.notes,
  };
  const messages = outcome.kind === "reply" ? compaction.messagesIn(outcome) : [];
  if (messages.length > 0) {
    return { kind: "compacted", messages, summary: summaryIn(messages), ...account };
  }
  const { failure, stopReason } = entry;
  const reason =
    failure === null
      ? `the provider answered without a compaction (stop reason: ${stopReason ?? "none"})`
      : `${failure.kind}: ${failure.detail}`;
  return { kind: "failed", reasons: [reason], failure, ...account };
}

/** Enough for a long summary and some thinking. The value does not affect the cache. */
const outputTokensUsual = 16_000;

function optionsFor(
  { options, model }: Session,
  outputTokensMax: number | undefined,
  { canStream }: ProtocolCompaction,
): CallOptions {
  const wanted = outputTokensMax ?? Math.max(options.outputTokensMax, outputTokensUsual);
  return {
    ...options,
    stream: options.stream && canStream,
    outputTokensMax: Math.min(wanted, model.outputTokensMax ?? wanted),
  };
}

function summaryIn(messages: readonly Message[]): string | null {
  const blocks = messages.flatMap(({ content }) => content);
  return blocks.find((block) => block.type === "compaction")?.content ?? null;
}

function isCompaction({ content }: Message): boolean {
  return content.length > 0 && content.every(({ type }) => type === "compaction");
}

/** Why providers would refuse this conversation; null if they would not. */
function whyRefused(messages: readonly Message[]): string | null {
  if (messages.every(isCompaction)) return "there is nothing to compact";
  const lastReply = messages.findLastIndex(({ role }) => role === "assistant");
  const open = new Set<string>();
  for (const block of messages.slice(Math.max(0, lastReply)).flatMap(({ content }) => content)) {
    if (block.type === "tool_use") open.add(block.id);
    else if (block.type === "tool_result") open.delete(block.toolUseId);
  }
  return open.size === 0
    ? null
    : `no result follows the tool uses ${[...open].join(", ")}: give it in what is pending, or cut before them`;
}
