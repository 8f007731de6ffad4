// Switches a session to another model. Keeps the old model's setup, and reuses an earlier setup of the new one.
import { appendMessages, messagesFrom, openThread } from "../../core/assembly/thread.ts";
import { openCacheState } from "../../core/cache/cache-state.ts";
import type { Ledger, ModelName } from "../../core/ledger/ledger.ts";
import type { Message } from "../../core/message/message.ts";
import { withoutThinking } from "../../core/message/without-thinking.ts";
import type { TextCounter } from "../../core/tokens/o200k/counter.ts";
import { noSizes } from "../../core/tokens/learned-sizes.ts";
import { createTokenCounter } from "../../core/tokens/token-counter.ts";
import { findModelSetup, isSame } from "./recorded-setup.ts";
import { makeFoundation, type FoundationSetup } from "../../core/session/session-foundation.ts";
import {
  firstPlace,
  foundationNotesOf,
  type ModelSetup,
  type ModelState,
  type Session,
} from "../../core/session/session.ts";
import { restoreModelSetup, type ResumeSetup } from "./stored-session.ts";

/** The other model, and how its calls are made. */
export interface SwitchTo extends Pick<ResumeSetup, "model" | "protocol" | "policy" | "options"> {
  /** As `Session.modelName`. */
  readonly modelName: string;
}

export interface SwitchDeps {
  readonly ledger: Ledger;
  readonly counter: TextCounter;
  /** The current inputs for tools and system text. */
  readonly context: () => Promise<Omit<FoundationSetup, "model" | "protocol" | "policy">>;
}

/** For so many other models the whole setup stays in memory; the ledger has the rest. */
const madeSetupsMax = 4;
/** For so many other models the session keeps the cache state. */
const otherModelsMax = 16;

/** The switch is recorded with the next turn. */
export async function switchModel(
  session: Session,
  to: SwitchTo,
  deps: SwitchDeps,
): Promise<Session> {
  const wanted: ModelName = { model: to.model.id, provider: to.model.provider };
  const known = session.otherModels.find(({ name }) => name === to.modelName);
  const setup =
    (await goBack(session, to, known?.setup ?? null, deps)) ??
    (await buildSetup(session, to, deps));
  // One state for each model: the same model on another route replaces it.
  const others = [...(session.isRecorded ? [leave(session)] : []), ...session.otherModels].filter(
    (each) => !isSame(each, wanted),
  );
  const { keptVolatile } = session.thread;
  return {
    ...session,
    ...setup,
    thread: { ...setup.thread, keptVolatile },
    cache: known?.cache ?? openCacheState(),
    sizes: known?.sizes ?? noSizes,
    pace: known?.pace ?? session.pace,
    lastVolatile: known?.lastVolatile ?? null,
    // These sizes belong to the old model.
    compactionState: { ...session.compactionState, noPlace: null },
    otherModels: others
      .slice(0, otherModelsMax)
      .map((each, at) => (at < madeSetupsMax ? each : { ...each, setup: null })),
  };
}

function leave(session: Session): ModelState {
  const { model, modelName, protocol, policy, options, thread, setupPlace } = session;
  const { cache, sizes, pace, lastVolatile } = session;
  // A setup without a completed turn is not in the ledger, and is built again later.
  const called = { model, modelName, protocol, policy, options };
  const setup = setupPlace.isRecorded
    ? { ...called, thread, setupPlace, ...foundationNotesOf(session) }
    : null;
  const name = { model: model.id, provider: model.provider, name: modelName };
  return { ...name, cache, sizes, pace, lastVolatile, setup };
}

/** Restores an earlier setup and adds the later messages without thinking. Markers and limits are the configured ones. */
async function goBack(
  session: Session,
  to: SwitchTo,
  earlier: ModelSetup | null,
  { ledger, counter }: SwitchDeps,
): Promise<ModelSetup | null> {
  if (!session.isRecorded) return null;
  // Another protocol would send other bytes.
  if (earlier !== null && earlier.protocol.name !== to.protocol.name) return null;
  if (earlier !== null) {
    const { model, protocol } = to;
    const since = messagesFrom(session.thread, earlier.thread.messages.length);
    const policy = { ...to.policy, layout: earlier.policy.layout };
    const thread = appendMessages(earlier.thread, since.map(withoutThinking));
    return { ...earlier, model, protocol, policy, thread };
  }
  const record = await ledger.findSession(session.id);
  if (record === null) return null;
  const name: ModelName = { model: to.model.id, provider: to.model.provider };
  const recorded = await findModelSetup(ledger, record, name);
  if (recorded === null || recorded.setup === null || !recorded.place.isRecorded) return null;
  const { calls } = recorded.setup;
  const { options, protocol, layout = to.policy.layout } = calls;
  if (protocol !== to.protocol.name || calls.name !== to.modelName) return null;
  return restoreModelSetup(ledger, record, recorded, {
    ...to,
    policy: { ...to.policy, layout },
    options,
    counter,
  });
}

async function buildSetup(
  session: Session,
  to: SwitchTo,
  { counter: textCounter, context }: SwitchDeps,
): Promise<ModelSetup> {
  const setup: FoundationSetup = { ...(await context()), ...to };
  const counter = createTokenCounter(textCounter, to.model.tokenizer);
  const { foundation, ...made } = makeFoundation(setup, counter, session.pace);
  const messages: readonly Message[] = messagesFrom(session.thread, 0);
  return {
    ...to,
    ...made,
    thread: appendMessages(openThread(foundation), messages.map(withoutThinking)),
    setupPlace: session.isRecorded ? { ...firstPlace, isRecorded: false } : firstPlace,
  };
}
