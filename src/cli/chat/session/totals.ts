// What a session has cost so far, what caching saved, and how full its window is.
import type { CallRecord } from "../../../core/ledger/call-entry.ts";
import type { Ledger } from "../../../core/ledger/ledger.ts";
import type { SessionRecord } from "../../../core/ledger/session-record.ts";
import { addUsage, generatedTokens, promptTokens } from "../../../core/message/usage.ts";
import { findSavings, savedTokens } from "../../../core/models/cost.ts";
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import type { TurnResult } from "../../../engine.ts";
import type { Session } from "../../../core/session/session.ts";
import { isUnpriced } from "../../format-cost.ts";
import { noTotals, type Totals } from "../state/state.ts";

/** Keeps the figures of the current session. */
export interface Tally {
  open(session: Session): Promise<Totals>;
  /** During a turn, with its calls so far. */
  callEnded(turnId: string): Promise<void>;
  turnEnded(run: TurnResult): Promise<void>;
}

/** Finds facts by the model id of a recorded call. */
type FindModel = (id: string) => ModelFacts | null;

export function createTally(
  deps: { readonly ledger: Ledger; readonly findModel: FindModel },
  emit: (totals: Totals) => void,
): Tally {
  const { ledger } = deps;
  let totals = noTotals;
  let estimate = 0;
  let find = deps.findModel;
  return {
    open: async (session) => {
      find = knowing(session.model, deps.findModel);
      estimate = session.thread.end.tokens;
      totals = await readTotals(ledger, session, find);
      return totals;
    },
    callEnded: async (turnId) => emit(addCalls(totals, await ledger.readCalls(turnId), find)),
    turnEnded: async ({ calls, end, session }) => {
      find = knowing(session.model, deps.findModel);
      const counted = addCalls(totals, calls, find);
      const record = await ledger.findSession(session.id);
      const { tokens } = session.thread.end;
      // The messages of a failed turn are removed again.
      const unchanged = tokens === estimate ? totals.contextTokens : countContext(session);
      estimate = tokens;
      totals = {
        ...counted,
        // Includes compactions.
        costPicoUsd: record?.costPicoUsd ?? counted.costPicoUsd,
        contextTokens: end === "done" ? counted.contextTokens : unchanged,
      };
      emit(totals);
    },
  };
}

/** The session's own model also has its route, which decides the price. */
function knowing(model: ModelFacts, find: FindModel): FindModel {
  return (id) => (id === model.id ? model : find(id));
}

function addCalls(totals: Totals, calls: readonly CallRecord[], find: FindModel): Totals {
  return calls.reduce((sum, call) => addCall(sum, call, find(call.model)), totals);
}

function addCall(totals: Totals, call: CallRecord, model: ModelFacts | null): Totals {
  const { usage } = call;
  const costPicoUsd = totals.costPicoUsd + (call.costPicoUsd ?? 0n);
  if (usage === null) return { ...totals, costPicoUsd };
  const saved = model === null ? null : findSavings(usage, model, { at: call.startMs });
  return {
    usage: addUsage(totals.usage, usage),
    told: call.verdict?.kind === "not told" ? totals.told : addUsage(totals.told, usage),
    callCount: totals.callCount + 1,
    costPicoUsd,
    unpricedCount: totals.unpricedCount + (isUnpriced(call) ? 1 : 0),
    savedPicoUsd:
      saved === null || totals.savedPicoUsd === null ? null : totals.savedPicoUsd + saved,
    savedTokens:
      model === null || totals.savedTokens === null
        ? null
        : totals.savedTokens + savedTokens(usage, model.cache),
    prefillMs:
      call.prefillMs === undefined ? totals.prefillMs : (totals.prefillMs ?? 0) + call.prefillMs,
    contextTokens: promptTokens(usage) + generatedTokens(usage),
  };
}

/** The totals of an open session, from its ledger records since it was opened or forked. */
async function readTotals(ledger: Ledger, session: Session, find: FindModel): Promise<Totals> {
  const record = await ledger.findSession(session.id);
  const calls = record === null ? [] : await readCalls(ledger, record);
  const totals = addCalls(noTotals, calls, find);
  const costPicoUsd = record?.costPicoUsd ?? 0n;
  return { ...totals, costPicoUsd, contextTokens: countContext(session) };
}

/** Our estimate, scaled to the provider's last count. */
function countContext({ thread, cache: { measured } }: Session): number {
  const { foundation, blocks, end } = thread;
  const before = foundation.blocks.length;
  const at = measured?.block ?? -1;
  const known = at < before ? foundation.blocks[at] : blocks.at(at - before);
  if (measured === null || known?.key !== measured.key || known.endTokens === 0) return end.tokens;
  return Math.round((end.tokens * measured.tokens) / known.endTokens);
}

async function readCalls(ledger: Ledger, record: SessionRecord): Promise<readonly CallRecord[]> {
  const turnIds: string[] = [];
  for await (const { id, type } of ledger.readTurns({ sessionId: record.id })) {
    if (type === "normal") turnIds.push(id);
  }
  const calls: CallRecord[] = [];
  const own = record.turnCount === 0 ? [] : turnIds.slice(-record.turnCount);
  for (const turnId of own) calls.push(...(await ledger.readCalls(turnId)));
  return calls;
}
