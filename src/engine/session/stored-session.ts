// A session in the ledger: recorded with its first turn, resumed by any process.
import { keepFoundation, restoreFoundation } from "../../core/assembly/kept-foundation.ts";
import { appendMessages, openThread } from "../../core/assembly/thread.ts";
import { openPace } from "../../core/cache/pace.ts";
import { hashContent } from "../../core/hash.ts";
import type { Ledger, ThreadOf } from "../../core/ledger/ledger.ts";
import type { NewSession, SessionRecord } from "../../core/ledger/session-record.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { StrataError } from "../../core/strata-error.ts";
import { createTokenCounter } from "../../core/tokens/token-counter.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { StepDeps } from "../turn/deps.ts";
import { countedMessages } from "../../core/assembly/thread.ts";
import { keptSetupOf, type CallSettings } from "../../core/session/kept-setup.ts";
import { findModelSetup, readShown, type RecordedSetup, needRecord } from "./recorded-setup.ts";
import { withState } from "../../core/session/session-state.ts";
import { nothingLearned } from "../../core/session/to-session.ts";
import { emitOpened } from "../events/session-events.ts";
import {
  foundationNotesOf,
  nameOf,
  type ModelSetup,
  type Session,
  type SessionSetup,
} from "../../core/session/session.ts";

/** Records the session. A given conversation becomes its first turn. */
export async function recordSession(
  session: Session,
  {
    ledger,
    events,
    routingVersion = "none",
  }: Pick<StepDeps, "ledger" | "events" | "routingVersion">,
): Promise<Session> {
  if (session.isRecorded || ledger === undefined) return session;
  const { id, agent, role, model, thread } = session;
  const { madeOf, workspacePath } = session;
  const { foundation } = thread;
  const about: NewSession = {
    id,
    agent,
    role,
    model: model.id,
    provider: model.provider,
    foundation: keepFoundation(foundation),
    contextJson: JSON.stringify({ key: foundation.key, tools: foundation.tools.length, madeOf }),
    setupJson: JSON.stringify(keptSetupOf(session)),
    messages: countedMessages(thread, 0),
    ...(workspacePath === null ? {} : { workspacePath }),
    ...session.origin,
    ...session.labels,
  };
  const record = await createOrFind(ledger, about);
  emitOpened(events, session, routingVersion);
  const { headTurnId, createdMs: openedMs } = record;
  return { ...session, isRecorded: true, headTurnId, openedMs };
}

/** Finds a session that was already recorded when its first turn failed to open. */
async function createOrFind(ledger: Ledger, about: NewSession): Promise<SessionRecord> {
  try {
    return await ledger.createSession(about);
  } catch (error) {
    const found = isConflict(error) ? await ledger.findSession(about.id) : null;
    if (found === null || !isUntouched(found, about)) throw error;
    return found;
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof StrataError && error.code === "conflict";
}

function isUntouched(found: SessionRecord, about: NewSession): boolean {
  const turns = about.messages === undefined || about.messages.length === 0 ? 0 : 1;
  return (
    found.turnCount === turns &&
    found.openTurnId === null &&
    found.costPicoUsd === 0n &&
    found.model === about.model &&
    found.setupJson === about.setupJson &&
    found.foundationHash === hashContent(about.foundation ?? "")
  );
}

export type ResumeSetup = Pick<
  SessionSetup,
  "model" | "protocol" | "policy" | "counter" | "options" | "pace"
>;

/** Reads a session from the ledger: tools and system text to the byte, messages, anchors. */
export async function resumeSession(
  ledger: Ledger,
  id: string,
  setup: ResumeSetup,
): Promise<Session> {
  const record = await needRecord(ledger, id);
  const { model, pace } = setup;
  const recorded = await findModelSetup(ledger, record, {
    model: model.id,
    provider: model.provider,
  });
  if (recorded === null) throw neverWith(record, model);
  const { policy } = setup;
  // Another layout would change the cached prefix.
  const layout = recorded.setup?.calls.layout ?? policy.layout;
  const session: Session = {
    ...(await restoreModelSetup(ledger, record, recorded, {
      ...setup,
      policy: { ...policy, layout },
    })),
    id,
    agent: record.agent,
    headTurnId: record.headTurnId,
    isRecorded: true,
    role: record.role,
    ...nothingLearned,
    pace: openPace(pace ?? "human"),
    staysWith: { model: nameIn(recorded, model), chosenBy: null },
    openedMs: record.createdMs,
    workspacePath: record.workspacePath,
    ...(record.parent === null ? {} : { origin: { parent: record.parent } }),
    warnings: [],
  };
  const restored = withState(session, await ledger.readState(id));
  const { warm } = restored;
  const paidPicoUsd = record.costPicoUsd - warm.spentPicoUsd;
  return { ...restored, warm: { ...warm, paidPicoUsd } };
}

function nameIn({ setup }: Pick<RecordedSetup, "setup">, model: ModelFacts): string {
  return setup?.calls.name ?? nameOf(model);
}

/** Restores recorded tools and system text, and the conversation as the model sees it, up to its head or a turn; null for none of it. */
export async function restoreModelSetup(
  ledger: Ledger,
  record: SessionRecord,
  { foundationHash, setup: kept, place, model: name, provider }: RecordedSetup,
  { model, protocol, policy, options, counter: textCounter }: ResumeSetup,
  of: ThreadOf | null = { sessionId: record.id },
): Promise<ModelSetup> {
  const text = foundationHash === null ? null : await ledger.readContent(foundationHash);
  if (text === null || kept === null) {
    throw new StrataError(
      "input-invalid",
      `session ${record.id} was recorded without its tools and system text`,
      "open a new session with its messages",
    );
  }
  if (kept.calls.protocol !== protocol.name) throw otherProtocol(record, kept.calls, protocol);
  const counter = createTokenCounter(textCounter, model.tokenizer);
  const foundation = restoreFoundation(text, { spelling: protocol.spelling(model), counter });
  const listener = { model: name, provider, place };
  const messages = of === null ? [] : (await readShown(ledger, of, listener)).messages;
  return {
    model,
    modelName: nameIn({ setup: kept }, model),
    protocol,
    policy,
    options,
    thread: appendMessages(
      openThread(foundation),
      messages.map(({ message }) => message),
    ),
    setupPlace: place,
    ...foundationNotesOf({
      ...kept,
      strataTools: kept.strataTools ?? [],
      toolset: kept.toolset ?? null,
    }),
  };
}

/** Another model needs other bytes, and some thinking is bound to its model. */
function neverWith({ id, model, provider }: SessionRecord, wanted: ModelFacts): StrataError {
  return new StrataError(
    "input-invalid",
    `session ${id} was opened with ${provider}/${model}, and never used ${wanted.provider}/${wanted.id}`,
    "resume it with a model that it used, then change its model",
  );
}

/** The stored tools and system text are in the old protocol's bytes. */
function otherProtocol({ id }: SessionRecord, kept: CallSettings, { name }: Protocol): StrataError {
  return new StrataError(
    "input-invalid",
    `session ${id} was recorded with the protocol ${kept.protocol} for ${kept.model}, and its provider now uses ${name}`,
    `configure the provider as it was, or open a new session with its messages`,
  );
}
