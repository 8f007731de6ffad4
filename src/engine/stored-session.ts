// A session in the ledger: recorded with its first turn, resumed by any process that can read it.
import { keepFoundation, restoreFoundation } from "../core/assembly/kept-foundation.ts";
import type { PaddingPlan } from "../core/assembly/padding.ts";
import { appendMessages, openThread } from "../core/assembly/thread.ts";
import { openCacheState } from "../core/cache/cache-state.ts";
import { openPace } from "../core/cache/pace.ts";
import { openFoldingState } from "../core/compaction/plan/folding-state.ts";
import type { PolicyName } from "../core/cache/policy.ts";
import { hashContent } from "../core/hash.ts";
import type { FoldRecord } from "../core/ledger/fold-record.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import type { NewSession, SessionRecord } from "../core/ledger/session-record.ts";
import type { Message } from "../core/message/message.ts";
import { StrataError } from "../core/strata-error.ts";
import { createTokenCounter } from "../core/tokens/token-counter.ts";
import type { CallOptions, ProtocolName } from "../core/wire/protocol.ts";
import type { LeftTool } from "../core/tools/select-tools.ts";
import type { LoadedSkill } from "../core/skills/activation-events.ts";
import type { Edges } from "../engine.ts";
import { newMessages } from "./record-turn.ts";
import { withState } from "./session-state.ts";
import { nothingSpent } from "./spent.ts";
import { tellOpened } from "./turn-events.ts";
import type { Session, SessionSetup } from "./session.ts";

/** What a session was opened with and cannot be read from its messages. */
export interface KeptSetup {
  readonly padding: PaddingPlan;
  readonly preactivated: readonly LoadedSkill[];
  readonly toolsLeft: readonly LeftTool[];
  readonly permissions: readonly string[];
  readonly madeOf: Session["madeOf"];
  readonly calls: CallHabit;
}

/** How a session's calls are made: another spelling or other options would be another prefix. */
export interface CallHabit {
  readonly protocol: ProtocolName;
  readonly policy: PolicyName;
  readonly options: CallOptions;
}

/** The same session, known to the ledger, with the conversation it goes on from as its first turn. */
export async function recordSession(
  session: Session,
  { ledger, events }: Pick<Edges, "ledger" | "events">,
): Promise<Session> {
  if (session.isRecorded) return session;
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
    messages: newMessages(thread, 0),
    ...(workspacePath === null ? {} : { workspacePath }),
    ...session.origin,
  };
  const record = await createOrFind(ledger, about);
  tellOpened(events, session);
  const { headTurnId, createdMs: openedMs } = record;
  return { ...session, isRecorded: true, headTurnId, openedMs };
}

export function keptSetupOf(session: Session): KeptSetup {
  const { padding, preactivated, toolsLeft, permissions, madeOf, options } = session;
  const calls = { protocol: session.protocol.name, policy: session.policy.name, options };
  return { padding, preactivated, toolsLeft, permissions, madeOf, calls };
}

/** A session that was recorded when its first turn failed to open is the same session. */
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

/** A session as the ledger has it: the same tools and system text to the byte, the same messages, the same anchors. */
export async function resumeSession(
  ledger: Ledger,
  id: string,
  setup: ResumeSetup,
): Promise<Session> {
  const record = await ledger.findSession(id);
  if (record === null) {
    throw new StrataError(
      "not-found",
      `there is no session ${id}`,
      "list them with `strata sessions`",
    );
  }
  const session = await restoreSession(ledger, record, setup);
  const messages: Message[] = [];
  for await (const { message } of ledger.readThread({ sessionId: id })) messages.push(message);
  const thread = appendMessages(session.thread, messages);
  return withState({ ...session, thread }, await ledger.readState(id));
}

async function restoreSession(
  ledger: Ledger,
  record: SessionRecord,
  setup: ResumeSetup,
): Promise<Session> {
  const { model, protocol, policy, options } = setup;
  checkModel(record, setup);
  // Tools and system text may be those of a fold.
  const fold = await ledger.findFold({ sessionId: record.id });
  const foundationHash = fold?.foundationHash ?? record.foundationHash;
  const text = foundationHash === null ? null : await ledger.readContent(foundationHash);
  const kept = readSetup(record, fold);
  if (text === null || kept === null) {
    throw new StrataError(
      "input-invalid",
      `session ${record.id} was recorded without its tools and system text`,
      "open a new session with its messages",
    );
  }
  const counter = createTokenCounter(setup.counter, model.tokenizer);
  const foundation = restoreFoundation(text, { spelling: protocol.spelling(model), counter });
  return {
    id: record.id,
    agent: record.agent,
    headTurnId: record.headTurnId,
    isRecorded: true,
    model,
    protocol,
    policy,
    role: record.role,
    options,
    thread: openThread(foundation),
    cache: openCacheState(),
    pace: openPace(setup.pace ?? "human"),
    folding: openFoldingState(),
    spent: nothingSpent,
    toldVolatile: null,
    openedMs: record.createdMs,
    workspacePath: record.workspacePath,
    padding: kept.padding,
    preactivated: kept.preactivated,
    toolsLeft: kept.toolsLeft,
    permissions: kept.permissions,
    madeOf: kept.madeOf,
    warnings: [],
  };
}

/** Other models read other bytes, and some are bound to what they said. */
function checkModel({ id, model, provider }: SessionRecord, setup: ResumeSetup): void {
  if (setup.model.id === model && setup.model.provider === provider) return;
  throw new StrataError(
    "input-invalid",
    `session ${id} was opened with ${provider}/${model}, not with ${setup.model.provider}/${setup.model.id}`,
    "resume it with that model, or open a new session with its messages",
  );
}

/** How the session was called last, or when it was opened; null where that was not recorded. */
export async function findCallHabit(
  ledger: Ledger,
  record: SessionRecord,
): Promise<CallHabit | null> {
  const fold = await ledger.findFold({ sessionId: record.id });
  return readSetup(record, fold)?.calls ?? null;
}

/** Of the fold that changed it, or as the session was opened. */
function readSetup({ setupJson }: SessionRecord, fold: FoldRecord | null): KeptSetup | null {
  const told: unknown = fold?.metadataJson == null ? null : JSON.parse(fold.metadataJson);
  if (typeof told === "object" && told !== null && "setup" in told && isKeptSetup(told.setup)) {
    return told.setup;
  }
  const kept: unknown = setupJson === null ? null : JSON.parse(setupJson);
  return isKeptSetup(kept) ? kept : null;
}

function isKeptSetup(value: unknown): value is KeptSetup {
  return typeof value === "object" && value !== null && "padding" in value && "calls" in value;
}
