// The spending caps of a session's calls: what is spent comes from the ledger, what runs in this process is added.
import type { Ledger } from "../../core/ledger/ledger.ts";
import { toPicoUsd } from "../../core/models/pico-usd.ts";
import {
  capScopes,
  findCapReached,
  toCapEvent,
  toCapFailure,
  worstCost,
  type CallToPay,
  type CapScope,
  type SpendingCaps,
  type SpendingGuard,
} from "../../core/session/spending-cap.ts";
import type { Session } from "../../core/session/session.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { TurnEmitter } from "../events/turn-emitter.ts";

/** In dollars. A cap that is not given does not hold. */
export interface SpendingOptions {
  /** For a session with the sub-agents that it started. */
  readonly sessionUsd?: number;
  /** For all sessions of the agent in the ledger. */
  readonly agentUsd?: number;
  /** For everything in the ledger since the day began. */
  readonly dayUsd?: number;
  /** Where the day begins, as `Europe/Berlin`; UTC by default. */
  readonly timezone?: string;
}

/** A call that is under way, with what it may cost. */
interface PendingCall {
  readonly root: string;
  readonly agent: string;
  readonly picoUsd: bigint;
}

interface CallsUnderWay {
  /** One of every session's work, by the session's id, and its refreshes, which run beside it. */
  readonly calls: Map<string | symbol, PendingCall>;
  /** How many are over: each may have changed what the ledger says. */
  overCount: number;
}

/** For all engines of this process on one ledger: a sub-agent has an engine of its own. */
const underWayOn = new WeakMap<Ledger, CallsUnderWay>();

/** Work in the session failed: its call is not under way any more. */
export function forgetPending(ledger: Ledger, key: string | symbol): void {
  const underWay = underWayOn.get(ledger);
  if (underWay?.calls.delete(key) === true) underWay.overCount += 1;
}

/** `key`: only for work that may run beside other work of the session. */
export function createSpendingGuard(
  { id, agent }: Pick<Session, "id" | "agent">,
  ledger: Ledger,
  readConfig: () => { readonly spending?: SpendingOptions },
  key: string | symbol = id,
): SpendingGuard {
  const underWay = underWayOn.get(ledger) ?? { calls: new Map(), overCount: 0 };
  underWayOn.set(ledger, underWay);
  let knownRoot: string | null = null;
  const pendingIn = (scope: CapScope, root: string): bigint =>
    [...underWay.calls]
      .filter(([other, call]) => {
        if (other === key) return false;
        return scope === "day" || (scope === "agent" ? call.agent === agent : call.root === root);
      })
      .reduce((sum, [, { picoUsd }]) => sum + picoUsd, 0n);
  const spentUnder = (
    caps: SpendingCaps,
    sinceMs: number,
  ): Promise<readonly (readonly [CapScope, bigint])[]> => {
    const by = { session: { sessionId: id }, agent: { agent }, day: { sinceMs } };
    const asked = capScopes.filter((scope) => caps[scope] !== undefined);
    return Promise.all(
      asked.map(async (scope) => [scope, await ledger.sumSpending(by[scope])] as const),
    );
  };
  return {
    check: async (call) => {
      const { spending = {} } = readConfig();
      const caps = toCaps(spending);
      if (Object.keys(caps).length === 0) return null;
      const root = (knownRoot ??= await rootOf(id, ledger));
      const sinceMs = dayStartMs(call.nowMs, spending);
      let overCount: number;
      let spent: Awaited<ReturnType<typeof spentUnder>>;
      // A call that is recorded while the sums are read may be in none of them.
      do {
        ({ overCount } = underWay);
        spent = await spentUnder(caps, sinceMs);
      } while (underWay.overCount !== overCount);
      // Nothing waits from here on: of two calls that ask at once, the later one sees the earlier.
      const withPending: Partial<Record<CapScope, bigint>> = {};
      for (const [scope, sum] of spent) withPending[scope] = sum + pendingIn(scope, root);
      const reached = findCapReached(caps, withPending, call);
      if (reached === null) {
        underWay.calls.set(key, { root, agent, picoUsd: worstCost(call) ?? 0n });
      }
      return reached;
    },
    settle: () => forgetPending(ledger, key),
  };
}

/** The guard of a session, and where it reports that a call was not sent. */
export interface WatchedSpending {
  readonly guard: SpendingGuard;
  readonly emitter: Pick<TurnEmitter, "emit">;
}

/** Asked before a call is encoded. Null if it may be sent; otherwise why not, after the event that says so. */
export async function refuseOverCap(
  { model, spent }: Pick<Session, "model" | "spent">,
  call: Pick<CallToPay, "plan" | "outputTokensMax" | "nowMs">,
  { guard, emitter }: WatchedSpending,
): Promise<ProviderFailure | null> {
  const reached = await guard.check({ ...call, model, unbookedPicoUsd: spent.costPicoUsd });
  if (reached === null) return null;
  emitter.emit(toCapEvent(reached));
  return toCapFailure(reached);
}

/** A sub-agent spends with the session at the top. A deleted parent is not above it any more. */
async function rootOf(id: string, ledger: Pick<Ledger, "findSession">): Promise<string> {
  let root = id;
  let above = (await ledger.findSession(id))?.parent?.sessionId;
  while (above !== undefined) {
    const record = await ledger.findSession(above);
    if (record === null) break;
    root = above;
    above = record.parent?.sessionId;
  }
  return root;
}

function toCaps({ sessionUsd, agentUsd, dayUsd }: SpendingOptions): SpendingCaps {
  return {
    ...(sessionUsd !== undefined && { session: toPicoUsd(sessionUsd) }),
    ...(agentUsd !== undefined && { agent: toPicoUsd(agentUsd) }),
    ...(dayUsd !== undefined && { day: toPicoUsd(dayUsd) }),
  };
}

const dayMs = 86_400_000;

/** When the day of this moment began. */
export function dayStartMs(nowMs: number, { timezone }: SpendingOptions): number {
  if (timezone === undefined) return nowMs - (nowMs % dayMs);
  const guess = nowMs - msIntoDay(nowMs, timezone);
  // The clocks may have changed since then.
  const into = msIntoDay(guess, timezone);
  return guess - (into > dayMs / 2 ? into - dayMs : into);
}

function msIntoDay(atMs: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat("en", {
    timeZone,
    hourCycle: "h23",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
  const [hours = 0, minutes = 0, seconds = 0] = (["hour", "minute", "second"] as const).map(
    (type) => parts.get(type),
  );
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + (atMs % 1000);
}
