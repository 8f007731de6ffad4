// Builds a new session from values.
import { appendMessages, openThread } from "../assembly/thread.ts";
import { openCacheState } from "../cache/cache-state.ts";
import { openPace } from "../cache/pace.ts";
import { noWarmBooks } from "../cache/warm-books.ts";
import { openCompactionState } from "../compaction/plan/compaction-state.ts";
import type { Message } from "../message/message.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { noSizes } from "../tokens/learned-sizes.ts";
import { createTokenCounter } from "../tokens/token-counter.ts";
import { makeValid } from "../compaction/summary/make-valid.ts";
import { makeFoundation } from "./session-foundation.ts";
import { usualRole } from "./session-role.ts";
import { nothingSpent } from "./summary-bill.ts";
import { firstPlace, nameOf, type Session, type SessionSetup } from "./session.ts";
import { asksForMarkers } from "../cache/policy.ts";

type Learned =
  | "cache"
  | "sizes"
  | "warm"
  | "compactionState"
  | "spent"
  | "lastVolatile"
  | "lastCall"
  | "otherModels"
  | "resting";

/** What a session has learned before its first call. */
export const nothingLearned: Pick<Session, Learned> = {
  cache: openCacheState(),
  sizes: noSizes,
  warm: noWarmBooks,
  compactionState: openCompactionState(),
  spent: nothingSpent,
  lastVolatile: null,
  lastCall: null,
  otherModels: [],
  resting: [],
};

/** Builds T0 to T2. They stay the same until a compaction. */
export function toSession(setup: SessionSetup & { readonly id: string }): Session {
  const { model, protocol, policy, context, options } = setup;
  const pace = openPace(setup.pace ?? "human", setup.earlierPaces);
  const counter = createTokenCounter(setup.counter, model.tokenizer);
  const { foundation, ...made } = makeFoundation(setup, counter, pace);
  const earlier = replayable(setup.messages ?? [], model);
  return {
    ...made,
    id: setup.id,
    agent: setup.agent ?? "agent",
    headTurnId: null,
    isRecorded: false,
    model,
    modelName: setup.modelName ?? nameOf(model),
    protocol,
    policy,
    role: context.role ?? usualRole,
    workspacePath: setup.workspacePath ?? null,
    options,
    thread: appendMessages(openThread(foundation), earlier.messages),
    ...nothingLearned,
    cache: { ...nothingLearned.cache, ...setup.learned },
    pace,
    setupPlace: firstPlace,
    staysWith: setup.staysWith ?? null,
    openedMs: null,
    warnings: [...warningsOf(setup), ...earlier.warnings],
    ...(setup.origin === undefined ? {} : { origin: setup.origin }),
    labels: {
      ...(setup.personaId === undefined ? {} : { personaId: setup.personaId }),
      ...(setup.routingKey === undefined ? {} : { routingKey: setup.routingKey }),
    },
  };
}

/** Thinking that is bound to its prefix cannot be sent again on another foundation. */
function replayable(messages: readonly Message[], model: ModelFacts): Replayable {
  const { messages: kept, thinkingRemoved } = makeValid(messages, model);
  if (thinkingRemoved === 0) return { messages, warnings: [] };
  const warning = `${thinkingRemoved} thinking blocks of earlier messages are left out: ${model.id} takes only its own`;
  return { messages: kept, warnings: [warning] };
}

interface Replayable {
  readonly messages: readonly Message[];
  readonly warnings: readonly string[];
}

function warningsOf({ model, policy }: SessionSetup): readonly string[] {
  if (!asksForMarkers(policy.markers) || model.cache.markers !== null) return [];
  const instead =
    model.cache.automatic === null
      ? "nothing of it is cached"
      : "it caches by itself, and the prefix is kept stable";
  return [`${model.id} takes no cache markers by ${model.route}: ${instead}`];
}
