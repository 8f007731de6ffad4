// Why a call read less from the cache than it could have: one cause, the block, the tokens and the dollars.
import { promptTokens, type Usage } from "../message/usage.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { explainCall } from "./explain-call.ts";
import type { Explanation } from "./explanation.ts";
import type { ForeignRequest } from "../wire/foreign/foreign-request.ts";
import { viewPrompt } from "./prompt-view.ts";
import type { TrackedEntry } from "./kept-prefixes.ts";
import { rememberCall } from "./remember-call.ts";

export interface MissQuestion {
  /** Null for the first call of a session. */
  readonly previous: ForeignRequest | null;
  readonly current: ForeignRequest;
  /** The provider's report for the current request; null: computed by its rules. */
  readonly usage: Usage | null;
  readonly previousUsage?: Usage;
  /** Facts of the current request's model, on its route. */
  readonly rules: ModelFacts;
  readonly timing: CallTiming;
  /** Cache entries of earlier calls. */
  readonly history?: readonly TrackedEntry[];
}

export interface CallTiming {
  /** From the start of the previous request to the start of this one. */
  readonly gapMs: number;
  /** From the start of the previous request until its response began; 0 if unknown. */
  readonly previousLatencyMs?: number;
  /** When the current request was sent, for prices; milliseconds since 1970. */
  readonly startMs: number;
}

export function explainMiss(question: MissQuestion): Explanation {
  const { previous, current, usage, previousUsage, rules, timing, history = [] } = question;
  const { startMs } = timing;
  const view = viewPrompt(current, rules);
  const billed = usage === null ? 0 : promptTokens(usage);
  const counted = view.blocks.at(-1)?.endTokens ?? 0;
  const previousMs = startMs - timing.gapMs;
  const before =
    previous === null
      ? null
      : rememberCall({
          view: viewPrompt(previous, rules),
          rules,
          usage: previousUsage ?? null,
          entries: history,
          startMs: previousMs,
          readableMs: previousMs + (timing.previousLatencyMs ?? 0),
          ...(billed > 0 && counted > 0 ? { scale: billed / counted } : {}),
        });
  const texts = new Map((previous?.blocks ?? []).map(({ hash, text }) => [hash, text]));
  return explainCall({
    before,
    view,
    rules,
    usage,
    startMs,
    textBefore: (hash) => texts.get(hash),
  });
}
