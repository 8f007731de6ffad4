// Carries out the steps of one compaction. What comes next is decided in core/turn/compaction.
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { CompactionLock, LockLifetime, OpenTurn, Ledger } from "../../core/ledger/ledger.ts";
import { settingsOf } from "../../core/session/compaction-rules.ts";
import { makeFoundation } from "../../core/session/session-foundation.ts";
import type { Session } from "../../core/session/session.ts";
import { StrataError, messageOf } from "../../core/strata-error.ts";
import {
  applyCompactionResult,
  beginCompaction,
} from "../../core/turn/compaction/apply-compaction-result.ts";
import type {
  Compacting,
  CompactionOutcome,
  CompactionRequest,
  CompactionResult,
  CompactionStep,
  MadeCompaction,
} from "../../core/turn/compaction/compacting.ts";
import { nextCompactionStep } from "../../core/turn/compaction/next-compaction-step.ts";
import type { Deps } from "../turn/deps.ts";
import type { TurnEmitter } from "../events/turn-emitter.ts";
import { runAfter, runBefore, type CompactionAbout } from "./compaction-hooks.ts";
import { compactAtProvider } from "./compact-at-provider.ts";
import { summarise } from "./summarise.ts";
import {
  toCompactionInput,
  type CompactionInput,
} from "../../core/turn/compaction/compaction-input.ts";
import { listenerOf, readShown } from "../session/recorded-setup.ts";

export interface CompactionToRun extends Omit<CompactionRequest, "openTurn" | "compaction"> {
  /** The turn that runs; null between turns. */
  readonly lease: OpenTurn | null;
}

/** Never throws for a provider's failure; the history then stays unchanged. */
export async function runCompaction(
  { lease, ...request }: CompactionToRun,
  deps: Deps,
  emitter: TurnEmitter,
): Promise<CompactionOutcome> {
  const held: Held = { lease, lock: null, begun: null, emitter };
  try {
    const { compaction } = deps;
    let work = beginCompaction({ ...request, openTurn: lease, compaction });
    for (;;) {
      for (const event of work.news) emitter.emit(event);
      const step = nextCompactionStep(work);
      if (step.do === "end") {
        await tellEnd(step.outcome, held, deps);
        return release(step.outcome, deps);
      }
      const result = await carryOut(step, work, held, deps);
      work = applyCompactionResult(
        { ...work, isAborted: work.isAborted || deps.signal?.aborted === true },
        { ...result, nowMs: deps.now() },
      );
    }
  } finally {
    await held.lock?.release().catch(() => {});
  }
}

/** Handles that cannot be data. */
interface Held {
  readonly lease: OpenTurn | null;
  lock: CompactionLock | null;
  /** Set once it is locked: from then on, hooks before and after it run. */
  begun: CompactionAbout | null;
  readonly emitter: TurnEmitter;
}

/** A result without its time. */
type Untimed<Result> = Result extends unknown ? Omit<Result, "nowMs"> : never;

async function carryOut(
  step: Exclude<CompactionStep, { readonly do: "end" }>,
  { request, at }: Compacting,
  held: Held,
  deps: Deps,
): Promise<Untimed<CompactionResult>> {
  const { ledger, compaction, provider, now, signal } = deps;
  const { session, openTurn, stagedCount } = request;
  const { emitter } = held;
  const spending = deps.spending && { guard: deps.spending, emitter };
  const stop = { ...(signal && { signal }), ...(spending && { spending }) };
  switch (step.do) {
    case "read history": {
      const input = await readInput(session, openTurn, stagedCount, ledger);
      return { did: step.do, input, skillsLoaded: compaction?.skills?.state().loaded ?? [] };
    }
    case "lock":
      held.lock = await ledger.lockCompaction(session.id, lifetimeOf(compaction));
      if (held.lock !== null) deps.onPhase?.("compacting");
      if (held.lock !== null && "due" in at) {
        const { trigger } = at.due;
        held.begun = { sessionId: session.id, turnId: held.lease?.id ?? null, trigger };
        await runBefore(compaction?.hooks, held.begun, signal);
      }
      return { did: step.do, isLocked: held.lock !== null };
    case "ask provider": {
      const outcome = await compactAtProvider(step.session, step.wish, { provider, now, ...stop });
      return { did: step.do, outcome };
    }
    case "summarise": {
      const { summariser, sleep = sleepUnlessAborted } = compaction ?? {};
      const own = { provider, now, sleep, ...(summariser && { summariser }), ...stop };
      return { did: step.do, outcome: await summarise(step.session, step.request, own) };
    }
    case "renew foundation":
      return { did: step.do, id: randomUUID(), ...(await renewFoundation(session, deps)) };
    case "commit":
      return { did: step.do, lost: await commit(step.made, held) };
    case "keep state":
      await unlessLost(async () => held.lock?.giveUp(step.stateJson));
      return { did: step.do };
  }
}

function lifetimeOf(compaction: Deps["compaction"]): LockLifetime {
  const { lockSeconds } = settingsOf(compaction);
  return lockSeconds === null ? {} : { lockMs: lockSeconds * 1000 };
}

/** If the application fails here, the old foundation stays: the compaction matters more. */
async function renewFoundation(session: Session, { compaction }: Deps) {
  try {
    const setup = (await compaction?.refresh?.()) ?? null;
    if (setup === null) return { newFoundation: null, reasons: [] };
    const { foundation } = session.thread;
    const newFoundation = makeFoundation(setup, foundation.counter, session.pace);
    const isSame = newFoundation.foundation.key === foundation.key;
    return { newFoundation: isSame ? null : newFoundation, reasons: [] };
  } catch (error) {
    const why = messageOf(error);
    const reason = `tools and system text could not be made again: ${why}`;
    return { newFoundation: null, reasons: [reason] };
  }
}

/** Stores the event with the compaction. Returns why the commit failed; null after success. */
async function commit(
  { written: { compaction }, completed }: MadeCompaction,
  { lease, lock, emitter }: Held,
): Promise<string | null> {
  if (lock === null) return "it is not locked";
  const prepared = emitter.prepare(completed);
  const lost = await unlessLost(() =>
    lease === null
      ? lock.commit(compaction, prepared.events)
      : lease.compact(compaction, lock, prepared.events),
  );
  if (lost === null) prepared.deliver();
  return lost;
}

/** Returns why if another process compacted or holds the lock. Throws if the turn lost its lease: it cannot go on. */
async function unlessLost(write: () => Promise<void> | undefined): Promise<string | null> {
  try {
    await write();
    return null;
  } catch (error) {
    if (error instanceof StrataError && error.code === "conflict") return error.message;
    throw error;
  }
}

function sleepUnlessAborted(ms: number, signal?: AbortSignal): Promise<void> {
  return wait(ms, undefined, { ...(signal && { signal }) });
}

async function tellEnd(outcome: CompactionOutcome, { begun }: Held, deps: Deps): Promise<void> {
  if (begun === null) return;
  const why = outcome.kind === "unchanged" ? outcome.why : null;
  const end = { ...begun, isCompacted: why === null, why };
  await runAfter(deps.compaction?.hooks, end, deps.signal);
}

/** Lets the agent load skills again whose bodies the model no longer sees. */
function release(outcome: CompactionOutcome, { compaction }: Deps): CompactionOutcome {
  if (outcome.kind === "compacted") compaction?.skills?.releaseCompacted(outcome.freedSkills);
  return outcome;
}

/** Reads a conversation from the ledger at the moment it may be compacted. */
export async function readInput(
  session: Session,
  open: CompactionInput["open"],
  stagedCount: number,
  ledger: Ledger,
): Promise<CompactionInput> {
  const of = open === null ? { sessionId: session.id } : { turnId: open.id };
  const shown = await readShown(ledger, of, listenerOf(session));
  return toCompactionInput(session, open, stagedCount, shown);
}
