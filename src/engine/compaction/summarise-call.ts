// One call for a summary: the request, its cost and its outcome.
import type { Assembly } from "../../core/assembly/assemble.ts";
import { cleanSummary } from "../../core/compaction/summary/judge.ts";
import type { Message } from "../../core/message/message.ts";
import type { CallOptions, CallToEncode } from "../../core/wire/protocol.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Reply } from "../../core/wire/reply.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import { assembleSide, sendSideCall, type CallDeps } from "./side-call.ts";
import type { Session } from "../../core/session/session.ts";
import type { SummaryCall } from "../../core/session/summary-bill.ts";

/** The model that writes the summary, with the prompt before the question. */
export interface Speaker {
  readonly session: Session;
  readonly provider: Pick<Provider, "send">;
  /** If volatile text stands before the messages, a change would invalidate the cached prefix. */
  readonly volatile: string | null;
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
  const { session, provider } = speaker;
  const { protocol, options, cache } = session;
  const side = {
    provider,
    assembly: assembleFor(speaker, messages),
    options,
    keepsPrefix: true,
    encode: (toEncode: CallToEncode) => protocol.encode(toEncode),
  };
  const { outcome, call, after } = await sendSideCall(session, side, deps);
  const { entries, evidence } = after.cache;
  return {
    answer: readAnswer(outcome),
    call,
    speaker: { ...speaker, session: { ...session, cache: { ...cache, entries, evidence } } },
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
  return assembleSide(session, session.thread, current, volatile);
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
