// Switches a session to another model. Keeps the old model's setup, and reuses an earlier setup of the new one.
import { appendMessages, messagesFrom, openThread } from "../../core/assembly/thread.ts";
import type { Ledger, ModelName } from "../../core/ledger/ledger.ts";
import type { Message } from "../../core/message/message.ts";
import { withoutThinking } from "../../core/message/without-thinking.ts";
import type { TextCounter } from "../../core/tokens/o200k/counter.ts";
import { createTokenCounter } from "../../core/tokens/token-counter.ts";
import { findModelSetup } from "./recorded-setup.ts";
import { makeFoundation, type FoundationSetup } from "../../core/session/session-foundation.ts";
import { changeSetup } from "../../core/session/change-setup.ts";
import { firstPlace, type ModelSetup, type Session } from "../../core/session/session.ts";
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

/** The switch is recorded with the next turn. */
export async function switchModel(
  session: Session,
  to: SwitchTo,
  deps: SwitchDeps,
): Promise<Session> {
  const known = session.otherModels.find(({ name }) => name === to.modelName);
  const setup =
    (await goBack(session, to, known?.setup ?? null, deps)) ??
    (await buildSetup(session, to, deps));
  return changeSetup(session, setup);
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
