// The summary for a compaction: request, check, retry or give up.
import type { CacheState } from "../../core/cache/cache-state.ts";
import { summaryInstruction } from "../../core/compaction/summary/instruction.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import type { Session } from "../../core/session/session.ts";
import {
  runSummaryAttempts,
  type AttemptDeps,
  type Attempted,
  type SummaryQuestion,
} from "./summarise-attempts.ts";
import { countRequest, optionsFor } from "./summarise-call.ts";
import { summariseTranscript, type Summariser } from "./summarise-transcript.ts";
import {
  demandsOf,
  wishOf,
  type SummaryRequest,
} from "../../core/turn/compaction/summary-request.ts";

export interface SummaryDeps extends AttemptDeps {
  readonly provider: Pick<Provider, "send">;
  /** A separate model for summaries. */
  readonly summariser?: Summariser;
}

/** `cache`: the session's cache state, with what calls on its own prefix taught. */
export type SummaryAttempt = Attempted & {
  readonly from: SummarySource;
  readonly cache: CacheState;
};

/** `conversation`: the exact bytes of the last call, with an instruction after them. */
export type SummarySource = "conversation" | "transcript" | "chunks";

/**
 * Uses the session's own model and the bytes of its last call by default, so that the provider's
 * cache serves most of the history. Without room for that, and for a separate model, uses a
 * transcript. Never throws for a provider's failure.
 */
export async function summarise(
  session: Session,
  request: SummaryRequest,
  deps: SummaryDeps,
): Promise<SummaryAttempt> {
  if (deps.summariser !== undefined) {
    const written = await summariseTranscript(session, request, deps.summariser, deps);
    return { ...written, cache: session.cache };
  }
  const question = toContinuation(session, request, deps);
  const fitted = fitReply(question);
  const tried = fitted === null ? noRoomFor(question) : await runSummaryAttempts(fitted, deps);
  const { cache } = tried.speaker.session;
  if (tried.kind === "summary" || tried.why !== "overflow") {
    return { ...tried, from: "conversation", cache };
  }
  const written = await summariseTranscript(session, request, ownSummariser(session, deps), deps);
  const calls = [...tried.calls, ...written.calls];
  if (written.kind === "summary") return { ...written, calls, cache };
  return { ...written, reasons: [...tried.reasons, ...written.reasons], calls, cache };
}

/** Repeats the last call, so that only the instruction is new. */
function toContinuation(
  session: Session,
  request: SummaryRequest,
  { provider }: SummaryDeps,
): SummaryQuestion {
  const options = optionsFor(session, request.summaryTokensMax);
  return {
    speaker: {
      session: { ...session, thread: request.thread, options },
      provider,
      volatile: request.volatile ?? null,
    },
    instruction: summaryInstruction(wishOf(request)),
    messages: (instruction) => [
      ...request.pending,
      { role: "user", content: [{ type: "text", text: instruction }] },
    ],
    demands: demandsOf(request),
  };
}

/** Lowers the reply limit to the room in the window; null if that is too low for a summary. */
function fitReply(question: SummaryQuestion): SummaryQuestion | null {
  const { speaker, messages, instruction, demands } = question;
  const { session } = speaker;
  const { windowTokens, inputTokensMax } = session.model;
  const tokens = countRequest(speaker, messages(instruction));
  const room = windowTokens - tokens;
  if (tokens > inputTokensMax || room < demands.tokensMax) return null;
  const outputTokensMax = Math.min(session.options.outputTokensMax, room);
  const options = { ...session.options, outputTokensMax };
  return { ...question, speaker: { ...speaker, session: { ...session, options } } };
}

function noRoomFor({ speaker }: SummaryQuestion): Attempted & { readonly kind: "failed" } {
  const { id, windowTokens } = speaker.session.model;
  const reason = `the window of ${id}, ${windowTokens} tokens, has no room for an instruction and a summary behind the conversation`;
  return { kind: "failed", why: "overflow", reasons: [reason], calls: [], speaker };
}

function ownSummariser(
  { model, protocol, options, thread }: Session,
  deps: SummaryDeps,
): Summariser {
  return { model, protocol, options, provider: deps.provider, counter: thread.foundation.counter };
}
