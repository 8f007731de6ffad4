// Results of tools that are too large for the window: cut before they are stored and sent, kept whole beside that (N-28).
import { cutResult, shareTokens } from "../core/compaction/plan/cut-result.ts";
import { findEffectiveTokens } from "../core/compaction/plan/fold-limits.ts";
import type { Message } from "../core/message/message.ts";
import { settingsOf, tellHowOf, type Compaction } from "./compaction.ts";
import type { Session } from "./session.ts";
import type { Teller } from "./tell.ts";

export interface LimitedResults {
  readonly messages: readonly Message[];
  /** The whole text of those that were cut, by their place. */
  readonly wholes: ReadonlyMap<number, string>;
}

/** Each by itself to its share of the window; all of one reply together to what remains of it. */
export function limitResults(
  answers: readonly Message[],
  session: Session,
  compaction: Compaction | undefined,
  teller: Teller,
): LimitedResults {
  const { model, thread, options } = session;
  const settings = settingsOf(compaction);
  const { counter } = thread.foundation;
  const countMessage = (message: Message): number => counter.message(message);
  const oneMax = Math.floor(settings.toolResultShareMax * model.windowTokens);
  const windowTokens = findEffectiveTokens(settings, model, options.outputTokensMax);
  const allMax = Math.max(oneMax, windowTokens - thread.end.tokens);
  const tokensMax = shareTokens(answers.map(countMessage), { oneMax, allMax });
  const limit = { tokensMax, countMessage, tellHow: tellHowOf(session) };
  const wholes = new Map<number, string>();
  const messages = answers.map((answer, at) => {
    const cut = cutResult(answer, limit);
    if (cut === null) return answer;
    wholes.set(at, cut.results.map(({ wholeText }) => wholeText).join("\n"));
    tellCut(teller, cut.tokensBefore, cut.tokens);
    return cut.message;
  });
  return { messages, wholes };
}

function tellCut(teller: Teller, tokensBefore: number, tokensAfter: number): void {
  teller.tell({
    type: "compaction.completed",
    payload: {
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
    },
  });
}
