// What the next call sends, and what is expected of it.
import { assemble, type Assembly } from "../assembly/assemble.ts";
import { volatileText } from "../assembly/system-blocks.ts";
import type { CachePlan } from "../cache/cache-plan.ts";
import { planCache } from "../cache/plan-cache.ts";
import type { Section } from "../layers/section.ts";
import type { Message } from "../message/message.ts";
import type { Session } from "../session/session.ts";

export interface CallToPrepare {
  readonly session: Session;
  readonly current: readonly Message[];
  /** Told for this call only, or as it was told before; null where nothing new is told. */
  readonly volatile: readonly Section[] | string | null;
  readonly startMs: number;
}

export interface PreparedCall {
  readonly assembly: Assembly;
  readonly plan: CachePlan;
  /** What is told for this call only. */
  readonly volatile: string | null;
  /** Of the whole prompt, corrected by what the last reply told. */
  readonly promptTokens: number;
  /** As a provider counted it before the call; absent where nobody was asked. */
  readonly countedTokens?: number;
}

export function prepareCall({ session, current, startMs, ...told }: CallToPrepare): PreparedCall {
  const volatile =
    told.volatile === null || typeof told.volatile === "string"
      ? told.volatile
      : volatileText(told.volatile);
  const { thread, cache: state, pace, model, policy } = session;
  const { layout, markers } = policy;
  const assembly = assemble({
    thread,
    current,
    volatile,
    layout,
    can: model.capabilities,
  });
  const { blocks } = assembly;
  const plan = planCache({ blocks, rules: model, markers, state, pace, now: startMs });
  const { readTokens, writeTokens, uncachedTokens } = plan.expected;
  const written = Object.values(writeTokens).reduce((sum, tokens) => sum + tokens, 0);
  return { assembly, plan, volatile, promptTokens: readTokens + written + uncachedTokens };
}
