// Cuts tool results that are too large for the window, before they are stored and sent. The full text is kept beside them.
import { cutResult, shareTokens } from "../compaction/plan/cut-result.ts";
import { findEffectiveTokens } from "../compaction/plan/compaction-limits.ts";
import type { EventBody } from "../events/event.ts";
import type { Message } from "../message/message.ts";
import { settingsOf, recallHintOf, type CompactionRules } from "../session/compaction-rules.ts";
import type { Session } from "../session/session.ts";
import { resultTruncated } from "./compaction/compaction-events.ts";

export interface LimitedResults {
  readonly messages: readonly Message[];
  /** The full text of each cut result, by its place in the list. */
  readonly fullResults: ReadonlyMap<number, string>;
  /** One event for each cut result. */
  readonly cuts: readonly EventBody[];
}

/** Cuts each result to its share of the window, and all results of one reply to the room that is left. */
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
  const cuts: EventBody[] = [];
  const messages = answers.map((answer, at) => {
    const cut = cutResult(answer, limit);
    if (cut === null) return answer;
    fullResults.set(at, cut.results.map(({ wholeText }) => wholeText).join("\n"));
    cuts.push(resultTruncated(cut.tokensBefore, cut.tokens));
    return cut.message;
  });
  return { messages, fullResults, cuts };
}
