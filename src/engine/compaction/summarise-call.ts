// One call for a summary: the request, its cost and its outcome.
import { assemble, type Assembly } from "../../core/assembly/assemble.ts";
import type { CacheState } from "../../core/cache/cache-state.ts";
import { cleanSummary } from "../../core/compaction/summary/judge.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Message } from "../../core/message/message.ts";
import type { CallOptions } from "../../core/wire/protocol.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Reply, StreamPart } from "../../core/wire/reply.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import { planReading } from "./plan-reading.ts";
import type { Session } from "../../core/session/session.ts";
import { settleCall } from "../../core/turn/settle-call.ts";
import type { SummaryCall } from "../../core/session/summary-bill.ts";

/** The model that writes the summary, with the prompt before the question. */
export interface Speaker {
  readonly session: Session;
  readonly provider: Pick<Provider, "send">;
  /** If volatile text stands before the messages, a change would invalidate the cached prefix. */
  readonly volatile: string | null;
}

export interface CallDeps {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly signal?: AbortSignal;
  readonly onPart?: (part: StreamPart) => void;
}

export type Answer =
  | { readonly kind: "text"; readonly text: string }
  /** The model answered, but not with a summary. */
  | { readonly kind: "problem"; readonly problem: string }
  | { readonly kind: "failure"; readonly failure: ProviderFailure };

export interface Asked {
  readonly answer: Answer;
  readonly call: SummaryCall;
  /** The speaker with what the call taught about the cache. The conversation is unchanged. */
  readonly speaker: Speaker;
}

export async function askForSummary(
  speaker: Speaker,
  messages: readonly Message[],
  deps: CallDeps,
): Promise<Asked> {
  const { session } = speaker;
  const { protocol, model, options, cache } = session;
  const startMs = deps.now();
  const assembly = assembleFor(speaker, messages);
  const plan = planReading(session, assembly, true, startMs);
  const request = protocol.encode({ assembly, plan, model, options });
  const { signal, onPart } = deps;
  const sent = await speaker.provider.send({
    request,
    stream: options.stream,
    ...(signal === undefined ? {} : { signal }),
    ...(onPart === undefined ? {} : { onPart }),
  });
  const made = { turnId: "", number: 1, assembly, plan, request, sent, startMs };
  const settled = settleCall(session, { ...made, endMs: deps.now() });
  return {
    answer: readAnswer(sent.outcome),
    call: toCall(settled.entry, model.provider),
    speaker: { ...speaker, session: { ...session, cache: learned(cache, settled.session.cache) } },
  };
}

/** Size of the request in tokens, based on the provider's own count of the start if there is one. */
export function countRequest(speaker: Speaker, messages: readonly Message[]): number {
  const { blocks } = assembleFor(speaker, messages);
  const total = blocks.at(blocks.length - 1)?.endTokens ?? 0;
  const { measured } = speaker.session.cache;
  const known = measured === null ? undefined : blocks.at(measured.block);
  if (measured === null || known?.key !== measured.key) return total;
  return measured.tokens + total - known.endTokens;
}

function assembleFor({ session, volatile }: Speaker, current: readonly Message[]): Assembly {
  const { thread, policy, model } = session;
  const { layout } = policy;
  // If thinking is bound to its prefix, the thread already contains this text.
  const isPrefix = layout.volatile === "system-tail" && !model.capabilities.thinkingBoundToPrefix;
  const shown = isPrefix ? volatile : null;
  return assemble({ thread, current, volatile: shown, layout, can: model.capabilities });
}

/**
 * The options for a reply of that length. Settings that affect cache hits stay, unless they make a
 * summary impossible.
 */
export function optionsFor(session: Session, summaryTokensMax: number): CallOptions {
  const { outputSchemaJson: _, stopSequences: __, ...options } = session.options;
  const { model } = session;
  const isForced = options.toolChoice !== undefined && options.toolChoice !== "auto";
  const thinks = model.capabilities.thinkingByDefault || options.thinkingJson !== undefined;
  const needed = summaryTokensMax + slackTokens;
  // Thinking counts against the same limit, and its own limit must be lower.
  const wanted = thinks ? Math.max(options.outputTokensMax, needed + thinkingTokens) : needed;
  const outputTokensMax = Math.min(wanted, model.outputTokensMax ?? wanted);
  return { ...options, outputTokensMax, ...(isForced ? { toolChoice: "none" as const } : {}) };
}

/** Our count of a text may be too low. */
const slackTokens = 500;
const thinkingTokens = 4_000;

function learned(before: CacheState, after: CacheState): CacheState {
  return { ...before, entries: after.entries, evidence: after.evidence };
}

function toCall(entry: CallEntry, provider: string): SummaryCall {
  const { startMs, endMs, model, status, usage, discarded, costPicoUsd, failure } = entry;
  return { startMs, endMs, model, provider, status, usage, discarded, costPicoUsd, failure };
}

function readAnswer(outcome: Reply | ProviderFailure): Answer {
  if (outcome.kind !== "reply") return { kind: "failure", failure: outcome };
  if (outcome.status === "partial") {
    const detail = "the reply ended in the middle";
    return { kind: "failure", failure: outcome.failure ?? { kind: "unreachable", detail } };
  }
  const { content } = outcome.message;
  if (content.some(({ type }) => type === "tool_use")) return problem(toolCalled);
  switch (outcome.stopReason) {
    case "max_tokens":
      return problem("It was cut off because it was too long; it must be shorter.");
    case "refusal":
      return problem("The reply was a refusal, not a summary.");
    case "tool_use":
      return problem(toolCalled);
    case "context_window": {
      const detail = "the window was full before the summary was complete";
      const failure = { kind: "context-overflow", detail, tokens: undefined } as const;
      return { kind: "failure", failure: { ...failure, tokensMax: undefined } };
    }
    case "pause_turn":
      return problem("The reply paused before the summary was complete.");
    case "end_turn":
    case "stop_sequence":
    case "compaction":
    case "unknown":
  }
  const said = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return { kind: "text", text: cleanSummary(said.join("")) };
}

const toolCalled = "The reply called a tool. No tool is run here: write the summary as text.";

function problem(text: string): Answer {
  return { kind: "problem", problem: text };
}
