// What the steps of a turn do to the world: refresh, record, count, compact, encode. src/engine.ts calls them in their order.
import type { DriftLabels } from "../../core/tokens/drift.ts";
import { keepFoundation } from "../../core/assembly/kept-foundation.ts";
import { countedMessages } from "../../core/assembly/thread.ts";
import { assert } from "../../core/assert.ts";
import { messageSources, type NewMessage, type NewTurn } from "../../core/ledger/turn-record.ts";
import { keptSetupOf } from "../../core/session/kept-setup.ts";
import type { Session } from "../../core/session/session.ts";
import type { CompactionOutcome } from "../../core/turn/compaction/compacting.ts";
import type { SentBesides } from "../../core/turn/diagnose-call.ts";
import { toNextModel, type MovedTurn } from "../../core/turn/move-turn.ts";
import type { PreparedCall } from "../../core/turn/prepare-call.ts";
import type { Result, ResultOf, StepOf } from "../../core/turn/step.ts";
import { callStarted } from "../../core/turn/turn-events.ts";
import { callCountOf, isPrefixLost, type Turn } from "../../core/turn/turn.ts";
import type { EncodedRequest } from "../../core/wire/encoded-request.ts";
import type { ToolRun } from "../../core/turn/done-in-turn.ts";
import type { UseProgress } from "../../edge/tools/dispatch/dispatch-options.ts";
import { answerTools } from "./answer-tools.ts";
import { runCompaction } from "../compaction/run-compaction.ts";
import { refuseOverCap } from "../session/spending.ts";
import type { StepDeps } from "./deps.ts";
import { emit, permissionsUsed, type RunningTurn } from "./running-turn.ts";

/** Reads what the next call needs: settings, the time, and text for this call only. */
export async function refresh(
  step: StepOf<"refresh">,
  { turn, volatile }: RunningTurn,
  deps: StepDeps,
): Promise<Result> {
  const session = (await deps.refresh?.(turn.session)) ?? turn.session;
  deps.onPhase?.("preparing");
  const nowMs = deps.now();
  const { settings, reserves, summariser } = deps.compaction ?? {};
  return {
    did: "refresh",
    session,
    nowMs,
    nowIso: new Date(nowMs).toISOString(),
    volatile: step.volatile ? await volatile() : null,
    rules: {
      compaction: {
        ...(settings && { settings }),
        ...(reserves && { reserves }),
        ...(summariser && { summariser: { model: summariser.model } }),
      },
      canCount: deps.counter !== undefined,
    },
  };
}

/** Records what a call will send before it is sent, so that a crash does not lose tool results. */
export async function recordSent(
  running: RunningTurn,
  step: StepOf<"record">,
  { ledger, queue }: Pick<StepDeps, "ledger" | "queue">,
): Promise<void> {
  const { turn } = running;
  const { plainThread } = step.prepared.assembly;
  const messages = countedMessages(plainThread, turn.session.thread.messages.length);
  if (step.opens) {
    const { takes } = queue ?? {};
    const opening = { ...toNewTurn(turn, messages, step.nowMs), ...(takes && { takes }) };
    running.lease = (await ledger?.openTurn(opening)) ?? null;
    queue?.onOpened();
  } else if (messages.length > 0) {
    const answers = messages.map((message, at) => asAnswer(message, turn, at));
    const items = turn.current.flatMap((message) => queue?.itemOf(message) ?? []);
    await running.lease?.answer(
      answers,
      items.map(({ id }) => id),
    );
    for (const { onTaken } of items) onTaken();
  }
}

function toNewTurn(turn: Turn, messages: readonly NewMessage[], startMs: number): NewTurn {
  const { before, session } = turn;
  const { model, role, permissions, workspacePath, setupPlace } = before;
  const { foundation } = session.thread;
  return {
    id: turn.id,
    sessionId: before.id,
    parentTurnId: before.headTurnId,
    model: model.id,
    provider: model.provider,
    role,
    startMs,
    ...(workspacePath !== null && { workspacePath }),
    ...(turn.event.sourceId !== null && { sourceEventId: turn.event.sourceId }),
    ...(!setupPlace.isRecorded && {
      foundation: keepFoundation(foundation),
      setupJson: JSON.stringify(keptSetupOf(before)),
    }),
    toolset: {
      name: before.toolset ?? role,
      tools: foundation.tools.map(({ name }) => name),
      permissionsGranted: permissions,
    },
    messages: messages.map((message) => ({ ...message, ...noteOf(turn) })),
  };
}

/** Adds the full text of a cut result, and when its tool ran. */
function asAnswer(message: NewMessage, { fullResults, toolRuns }: Turn, at: number): NewMessage {
  const whole = fullResults.get(at);
  const result = message.message.content.find(({ type }) => type === "tool_result");
  const id = result?.type === "tool_result" ? result.toolUseId : null;
  const run = toolRuns.findLast(({ toolUseId }) => toolUseId === id);
  return {
    ...message,
    ...(whole !== undefined && { whole }),
    ...(run && { ran: { startMs: run.startMs, endMs: run.endMs } }),
  };
}

/** The source of the first message. */
function noteOf({ event: { context } }: Turn): Pick<NewMessage, "source" | "contextJson"> {
  if (context === null) return {};
  const source = messageSources.find((each) => each === context.source) ?? "event";
  return { source, contextJson: JSON.stringify(context) };
}

/** Asks the provider for an exact prompt count. */
export async function countPrompt(
  session: Session,
  { assembly, plan, promptTokens }: PreparedCall,
  { counter, signal }: Pick<StepDeps, "counter" | "signal">,
): Promise<number> {
  if (counter === undefined) return promptTokens;
  const { protocol, model, options } = session;
  const { tokens } = await counter.count({
    request: protocol.encode({ assembly, plan, model, options }),
    tokenizer: model.tokenizer,
    estimatedTokens: promptTokens,
    labels: labelsOf(session),
    ...(signal && { signal }),
  });
  return tokens;
}

/** Records a reply. The last one ends the turn in the same transaction. */
export async function recordReply(
  { entry, more, ends }: StepOf<"record reply">,
  running: RunningTurn,
  { now, permissionsOf }: Pick<StepDeps, "now" | "permissionsOf">,
): Promise<void> {
  const { lease, turn } = running;
  if (!ends) {
    await lease?.append(entry, more);
    return;
  }
  const endMs = now();
  const end = { status: "completed", endMs, ...permissionsUsed(turn, permissionsOf) } as const;
  await lease?.append(entry, { ...more, end });
  running.endMs = endMs;
}

/** What a recorded reply means to others: what was spent, how well the prompt was counted, and what the cache lost. */
export function reportReply(
  { entry }: StepOf<"record reply">,
  { session, at }: Turn,
  deps: Pick<StepDeps, "spending" | "counter" | "onMiss" | "onPrefixLost">,
): void {
  deps.spending?.settle();
  if (at.after !== "send") return;
  const { miss, call } = at.sent;
  const { countedTokens } = call.prepared;
  if (countedTokens !== undefined && entry.usage !== null) {
    deps.counter?.noteBill({ labels: labelsOf(session), countedTokens, usage: entry.usage });
  }
  if (miss !== null) deps.onMiss?.(at.sent.entry.number, miss);
  const { stored } = entry.plan;
  if (stored !== undefined && isPrefixLost(entry, at.sent.session)) {
    deps.onPrefixLost?.(stored.id, entry.failure?.detail ?? "");
  }
}

function labelsOf({ agent, model }: Session): DriftLabels {
  return { agent, provider: model.provider, model: model.id };
}

/** Shortens the history before the running turn, and parts of the turn that are too long. */
export function compactInTurn(
  { bySize, prepared, nowMs }: StepOf<"compact">,
  { turn, lease, emitter }: RunningTurn,
  deps: StepDeps,
): Promise<CompactionOutcome> {
  const { session, current } = turn;
  const { ledger } = deps;
  assert(ledger !== undefined, "only a recorded history is compacted");
  const request = {
    session,
    lease,
    stagedCount: current.length,
    prepared,
    nowMs: nowMs ?? deps.now(),
    ...(bySize === null ? { asked: "overflow_recovery" as const } : { bySize }),
  };
  return runCompaction(request, { ...deps, ledger }, emitter);
}

/** Runs the tools of a reply, and notes when each ran. */
export async function runTools(
  { uses }: StepOf<"run tools">,
  { turn, tools }: RunningTurn,
  { now, onPhase, runTools: run }: StepDeps,
): Promise<Result> {
  // A resumed turn reports phases only from its first call on.
  if (turn.isAnnounced) onPhase?.("running tools");
  const askedMs = now();
  const shown = new Map<string, { readonly startMs: number | null; readonly over?: Over }>();
  const onUse = ({ toolUseId, isOver, spawnedSessionId }: UseProgress): void => {
    const startMs = isOver ? (shown.get(toolUseId)?.startMs ?? null) : now();
    const over = isOver && { endMs: now(), ...(spawnedSessionId && { spawnedSessionId }) };
    shown.set(toolUseId, { startMs, ...(over && { over }) });
  };
  const answers = await answerTools(uses, run, { ...tools, onUse });
  const endMs = now();
  const callNumber = callCountOf(turn);
  const runs = uses.flatMap(({ id: toolUseId, name }): readonly ToolRun[] => {
    // Tools that another program runs may not say when.
    const { startMs, over = { endMs } } = shown.get(toolUseId) ?? { startMs: askedMs };
    return startMs === null ? [] : [{ toolUseId, name, callNumber, startMs, ...over }];
  });
  return { did: "run tools", answers, runs };
}

type Over = Pick<ToolRun, "endMs" | "spawnedSessionId">;

/** Null if the call may be sent. Otherwise its result: it failed, because it might pass a spending cap. */
export async function checkSpending(
  { prepared }: StepOf<"send">,
  running: RunningTurn,
  { spending, now }: StepDeps,
): Promise<ResultOf<"send"> | null> {
  if (spending === undefined) return null;
  const { turn, emitter } = running;
  const { outputTokensMax } = turn.session.options;
  const nowMs = now();
  const call = { plan: prepared.plan, outputTokensMax, nowMs };
  const outcome = await refuseOverCap(turn.session, call, { guard: spending, emitter });
  if (outcome === null) return null;
  const sent = { outcome, attempts: [] };
  return { did: "send", sent, notes: [], startMs: nowMs, endMs: nowMs };
}

export interface StartedCall {
  readonly request: EncodedRequest;
  readonly notes: EncodedRequest["notes"];
  readonly besides: SentBesides;
  readonly startMs: number;
}

/** Encodes the call and emits its start. */
export function encodeCall(
  { prepared, number }: StepOf<"send">,
  running: RunningTurn,
  deps: StepDeps,
): StartedCall {
  const { protocol, model, options, lastCall } = running.turn.session;
  const { assembly, plan, promptTokens } = prepared;
  const before = lastCall?.reply ?? null;
  // Another route does not know the reply.
  const previousReplyId = before?.route === model.route ? before.id : null;
  const { stored } = plan;
  const storedPrefix = stored && { name: stored.name, blocks: stored.blocks };
  const request = protocol.encode({
    assembly,
    plan,
    model,
    options,
    previousReplyId,
    ...(storedPrefix && { storedPrefix }),
  });
  const startMs = deps.now();
  emit(running, () => [callStarted(running.turn, number, promptTokens)]);
  deps.onPhase?.("calling");
  const { notes, betas = [], comparesWith } = request;
  const besides = { betas, ...(comparesWith !== undefined && { comparesWith }) };
  return { request, notes, besides, startMs };
}

/** Goes on with another model, if there is one. Null if the turn ends here. */
export async function switchModel(
  step: StepOf<"switch model">,
  { turn, lease }: RunningTurn,
  deps: Pick<StepDeps, "switchModel">,
): Promise<MovedTurn | null> {
  const moved = (await deps.switchModel?.(turn, step)) ?? null;
  if (moved !== null) await lease?.switchModel(toNextModel(moved, turn.id));
  return moved;
}
