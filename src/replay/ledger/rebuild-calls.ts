// Makes the calls of a session again from the ledger: prompts to the byte, and what each reply taught, by the engine's own code.
import { assemble, type Assembly } from "../../core/assembly/assemble.ts";
import { appendMessages } from "../../core/assembly/thread.ts";
import { openPace } from "../../core/cache/pace.ts";
import { findPolicy } from "../../core/cache/policies.ts";
import type { SentPrompt } from "../../core/diagnosis/own/sent-prompt.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Ledger, ModelName } from "../../core/ledger/ledger.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import type { ThreadMessage, TurnRecord } from "../../core/ledger/turn-record.ts";
import { noUsage } from "../../core/message/usage.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import { changeSetup } from "../../core/session/change-setup.ts";
import type { ModelSetup, Session } from "../../core/session/session.ts";
import { nothingSpent } from "../../core/session/summary-bill.ts";
import { nothingLearned } from "../../core/session/to-session.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { TextCounter } from "../../core/tokens/o200k/counter.ts";
import type { Miss } from "../../core/turn/diagnose-call.ts";
import { toSeen, withMessages } from "../../core/turn/restore-turn.ts";
import { settleCall } from "../../core/turn/settle-call.ts";
import { findProtocol } from "../../core/wire/protocols.ts";
import type { Reply } from "../../core/wire/reply.ts";
import { findRecorded } from "../../engine/session/engine-config.ts";
import { findSetupAt, isSame } from "../../engine/session/recorded-setup.ts";
import { restoreModelSetup } from "../../engine/session/stored-session.ts";

export interface RebuildDeps {
  readonly ledger: Ledger;
  readonly catalogue: Catalogue;
  readonly counter: TextCounter;
}

export interface RebuiltCall {
  readonly turn: TurnRecord;
  readonly call: CallEntry;
  /** The session before the call. */
  readonly session: Session;
  readonly assembly: Assembly;
  /** Null if no reply arrived. */
  readonly prompt: SentPrompt | null;
  /** What the engine says about this call, from these bytes; null for nothing. */
  readonly miss: Miss | null;
  /** Whether these are the bytes that were sent, by the recorded key. */
  readonly isExact: boolean;
}

/** A turn whose prompts cannot be made again, and why. */
export interface LostTurn {
  readonly turn: TurnRecord;
  readonly calls: number;
  readonly reason: string;
}

/** Where the walk stands: the session after its last call. */
interface Walk {
  readonly session: Session;
  /** The turn that the thread ends with; undefined if it must be read again. */
  readonly head: string | null | undefined;
  /** The latest compaction before it; null for none. */
  readonly compactionId: string | null;
}

/** Turns of one session, oldest first, as `readOwnTurnIds` gives them. Holds one thread. */
export async function* rebuildCalls(
  record: SessionRecord,
  turnIds: readonly string[],
  deps: RebuildDeps,
): AsyncGenerator<RebuiltCall | LostTurn> {
  let walk: Walk | null = null;
  for (const turnId of turnIds) {
    const turn = await deps.ledger.findTurn(turnId);
    const recorded = await deps.ledger.readCalls(turnId);
    if (turn === null || turn.type === "compaction" || recorded.length === 0) continue;
    const messages = await deps.ledger.readMessages(turnId);
    const given = { record, turn, messages, calls: withMessages(recorded, messages) };
    try {
      for await (const step of rebuildTurn(given, walk, deps)) {
        ({ walk } = step);
        yield step.rebuilt;
      }
      // Only a completed turn stays in the conversation. What was learned stays in any case.
      if (walk !== null)
        walk = { ...walk, head: turn.status === "completed" ? turn.id : undefined };
    } catch (error) {
      if (!(error instanceof StrataError)) throw error;
      if (walk !== null) walk = { ...walk, head: undefined };
      yield { turn, calls: recorded.length, reason: error.message };
    }
  }
}

interface TurnToRebuild {
  readonly record: SessionRecord;
  readonly turn: TurnRecord;
  readonly messages: readonly ThreadMessage[];
  readonly calls: readonly CallEntry[];
}

interface RebuiltStep {
  readonly rebuilt: RebuiltCall;
  readonly walk: Walk;
}

async function* rebuildTurn(
  given: TurnToRebuild,
  before: Walk | null,
  deps: RebuildDeps,
): AsyncGenerator<RebuiltStep> {
  const { turn, calls } = given;
  const places = await placesOf(turn, deps.ledger);
  let walk = before;
  let place: Place | null = null;
  for (const call of calls) {
    let step: (RebuiltStep & { readonly at: Place }) | null = null;
    for (const here of byTime(places, call)) {
      const goesOn = place === null ? walk?.head === here.after : place === here;
      const opened: Walk =
        goesOn && walk !== null && isSame(modelOf(walk.session), nameOfCall(turn, call))
          ? walk
          : await openAt(given, here, call, walk, deps);
      const { rebuilt, after } = rebuildCall(turn, call, opened.session);
      if (step === null || rebuilt.isExact) {
        step = { rebuilt, walk: { ...opened, session: after }, at: here };
      }
      if (rebuilt.isExact) break;
    }
    if (step === null) return;
    ({ walk, at: place } = step);
    yield step;
  }
}

/** The likeliest first: a clock may give a call and a compaction the same time, so the key decides. */
function byTime(places: readonly Place[], { startMs }: CallEntry): readonly Place[] {
  const likely = places.findLast(({ fromMs }) => fromMs <= startMs);
  return likely === undefined ? places : [likely, ...places.filter((each) => each !== likely)];
}

/** The turn or compaction that calls follow from a time on. */
interface Place {
  readonly after: string | null;
  readonly fromMs: number;
  /** Whose setup counts: that of the turn, or of the compaction. */
  readonly setupAt: string | null;
  /** Messages of the turn before this index are compacted. */
  readonly firstIndex: number;
}

/** Compactions while a turn ran stand before it, and only its later calls saw them. Oldest first. */
async function placesOf(turn: TurnRecord, ledger: Ledger): Promise<readonly Place[]> {
  const places: Place[] = [];
  let after = turn.parentTurnId;
  let setupAt: string | null = turn.id;
  for (;;) {
    const compaction = after === null ? null : await ledger.findCompaction({ turnId: after });
    const isInTurn = compaction?.turnId === after && compaction.compactedMs >= turn.startMs;
    if (!isInTurn) return [{ after, fromMs: 0, setupAt, firstIndex: 0 }, ...places];
    const { firstKeptTurnId, firstKeptIndex, compactedMs } = compaction;
    const firstIndex = firstKeptTurnId === turn.id ? firstKeptIndex : 0;
    places.unshift({ after, fromMs: compactedMs, setupAt, firstIndex });
    after = (await ledger.findTurn(compaction.turnId))?.parentTurnId ?? null;
    setupAt = after;
  }
}

/** The session as it stood at a place, with what was learned so far. */
async function openAt(
  { record, turn, messages, calls: ofTurn }: TurnToRebuild,
  { after, setupAt, firstIndex }: Place,
  call: CallEntry,
  last: Walk | null,
  { ledger, catalogue, counter }: RebuildDeps,
): Promise<Walk> {
  const wanted = nameOfCall(turn, call);
  const recorded = await findSetupAt(ledger, record, setupAt, wanted);
  const calls = recorded?.setup?.calls;
  const protocol = findProtocol(calls?.protocol ?? "");
  if (recorded === null || calls === undefined || protocol === undefined) throw notRecorded(wanted);
  const model = findRecorded({ name: calls.name, ...wanted }, { catalogue });
  const own = findPolicy(calls.policy);
  const policy = { ...own, layout: calls.layout ?? own.layout };
  const how = { model, protocol, policy, options: calls.options, counter };
  const of = after === null ? null : { turnId: after };
  const setup = await restoreModelSetup(ledger, record, recorded, how, of);
  const compactionId = of === null ? null : ((await ledger.findCompaction(of))?.turnId ?? null);
  const session =
    last === null
      ? openRecorded(record, setup)
      : withSetup(last.session, setup, compactionId !== last.compactionId);
  // What the turn itself said before.
  const isEarlier = ({ number }: CallEntry): boolean => number < call.number;
  const answered = ofTurn.findLast((each) => isEarlier(each) && each.status === "complete");
  const said = messages.filter(
    ({ callNumber, isReplayed }) => isReplayed && callNumber <= (answered?.number ?? 0),
  );
  const leftThrough = turn.switches.findLast(({ through }) => through < call.number)?.through ?? 0;
  const seen = toSeen(said, { fromIndex: firstIndex, leftThrough });
  const thread = appendMessages(setup.thread, seen);
  return { session: { ...session, headTurnId: after, thread }, head: after, compactionId };
}

/** A turn names its last model; those that it left have their calls up to a number. */
function nameOfCall(
  { provider, switches }: TurnRecord,
  { model, number }: CallEntry,
): ModelName & { readonly name?: string } {
  return switches.find(({ through }) => through >= number) ?? { model, provider };
}

function modelOf({ model }: Pick<Session, "model">): ModelName {
  return { model: model.id, provider: model.provider };
}

function notRecorded({ model }: ModelName): StrataError {
  return new StrataError(
    "input-invalid",
    `the tools and the system text for ${model} are not recorded`,
    "sessions of the engine record them",
  );
}

function openRecorded(record: SessionRecord, setup: ModelSetup): Session {
  return {
    ...setup,
    ...nothingLearned,
    id: record.id,
    agent: record.agent,
    headTurnId: null,
    isRecorded: true,
    role: record.role,
    pace: openPace("human"),
    staysWith: null,
    openedMs: record.createdMs,
    workspacePath: record.workspacePath,
    warnings: [],
  };
}

/** Only one thread is held: setups of other models are read again. */
function withSetup(last: Session, setup: ModelSetup, isCompacted: boolean): Session {
  const isSameModel = isSame(modelOf(last), modelOf(setup));
  const session = isSameModel ? { ...last, ...setup } : changeSetup(last, setup);
  const { compactionState, otherModels } = session;
  const folds = compactionState.folds + (isCompacted ? 1 : 0);
  return {
    ...session,
    compactionState: { ...compactionState, folds },
    otherModels: otherModels.map((each) => ({ ...each, setup: null })),
  };
}

function rebuildCall(
  turn: TurnRecord,
  call: CallEntry,
  session: Session,
): { readonly rebuilt: RebuiltCall; readonly after: Session } {
  const { thread, policy, model } = session;
  const { layout } = policy;
  // This text is not stored. Before the messages it takes part in every prefix, so something stands for it.
  const volatile = layout.volatile === "system-tail" ? `(not recorded: ${turn.id})` : null;
  const assembly = assemble({ thread, current: call.sent, volatile, layout, model });
  const isExact = assembly.blocks.at(assembly.tailBlock)?.key === call.promptKey;
  const about = { turn, call, session, assembly, isExact };
  const { reply } = call;
  if (reply === null) return { rebuilt: { ...about, prompt: null, miss: null }, after: session };
  const settled = settleCall(session, {
    turnId: turn.id,
    number: call.number,
    assembly,
    plan: call.plan,
    request: { notes: [] },
    sent: { outcome: toReply(call, reply), attempts: [] },
    startMs: call.startMs,
    endMs: call.endMs,
    spent: nothingSpent,
    volatile,
  });
  const prompt = settled.session.lastCall?.sent?.prompt ?? null;
  return { rebuilt: { ...about, prompt, miss: settled.miss }, after: settled.session };
}

function toReply(call: CallEntry, message: Reply["message"]): Reply {
  const { usage, status, stopReason, servedBy, verdict } = call;
  return {
    kind: "reply",
    id: "",
    model: call.model,
    message,
    stopReason: stopReason ?? "unknown",
    usage: {
      usage: usage ?? noUsage,
      isReported: usage !== null,
      reportsCache: verdict?.kind !== "not told",
      warnings: [],
    },
    status: status === "complete" ? "complete" : "partial",
    ...(servedBy === undefined ? {} : { servedBy }),
    transformations: [],
  };
}
