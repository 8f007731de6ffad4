// Results of tools that are too large for the window: cut before they are stored and sent, kept whole beside that.
import { cutResult, shareTokens } from "../compaction/plan/cut-result.ts";
import { findEffectiveTokens } from "../compaction/plan/compaction-limits.ts";
import type { PayloadOf } from "../events/event.ts";
import type { Message } from "../message/message.ts";
import { settingsOf, recallHintOf, type CompactionRules } from "../session/compaction-rules.ts";
import type { Session } from "../session/session.ts";

export interface LimitedResults {
  readonly messages: readonly Message[];
  /** The whole text of those that were cut, by their place. */
  readonly fullResults: ReadonlyMap<number, string>;
  /** One for each that was cut. */
  readonly cuts: readonly PayloadOf<"compaction.completed">[];
}

/** Each by itself to its share of the window; all of one reply together to what remains of it. */
export function limitResults(
  answers: readonly Message[],
  session: Session,
  compaction: CompactionRules | undefined,
): LimitedResults {
  const { model, thread, options } = session;
  const settings = settingsOf(compaction);
  const { counter } = thread.foundation;
  const countMessage = (message: Message): number => counter.message(message);
  const oneMax = Math.floor(settings.toolResultShareMax * model.windowTokens);
  const windowTokens = findEffectiveTokens(settings, model, options.outputTokensMax);
  const allMax = Math.max(oneMax, windowTokens - thread.end.tokens);
  const tokensMax = shareTokens(answers.map(countMessage), { oneMax, allMax });
  const limit = { tokensMax, countMessage, recallHint: recallHintOf(session) };
  const fullResults = new Map<number, string>();
  const cuts: PayloadOf<"compaction.completed">[] = [];
  const messages = answers.map((answer, at) => {
    const cut = cutResult(answer, limit);
    if (cut === null) return answer;
    fullResults.set(at, cut.results.map(({ wholeText }) => wholeText).join("\n"));
    cuts.push(describeCut(cut.tokensBefore, cut.tokens));
    return cut.message;
  });
  return { messages, fullResults, cuts };
}

function describeCut(tokensBefore: number, tokensAfter: number): PayloadOf<"compaction.completed"> {
  return {
    trigger: "context_limit",
    outcome: "tool_result_truncated",
    summarized_through_turn_id: null,
    first_kept_turn_id: null,
    turns_summarized: 0,
    tokens_before: tokensBefore,
    tokens_after: tokensAfter,
    summary_tokens: 0,
    summary_hash: null,
    model: null,
    provider: null,
    cost_usd: null,
    duration_ms: 0,
  };
}
