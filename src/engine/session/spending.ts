// The spending caps of a session's calls: what is spent comes from the ledger, what runs in this process is added.
import type { Ledger } from "../../core/ledger/ledger.ts";
import { toPicoUsd } from "../../core/models/pico-usd.ts";
import {
  findCapReached,
  worstCost,
  type CapScope,
  type SpendingCaps,
  type SpendingGuard,
} from "../../core/session/spending-cap.ts";
import type { Session } from "../../core/session/session.ts";
import type { EngineConfig, SpendingOptions } from "./engine-config.ts";

/** A call that is under way, with what it may cost. */
interface PendingCall {
  readonly root: string;
  readonly agent: string;
  readonly picoUsd: bigint;
}

/** By session, for all engines of this process on one ledger: a sub-agent has an engine of its own. */
const pendingOn = new WeakMap<Ledger, Map<string, PendingCall>>();

/** Work in the session failed: its call is not under way any more. */
export function forgetPending(ledger: Ledger, sessionId: string): void {
  pendingOn.get(ledger)?.delete(sessionId);
}

export function createSpendingGuard(
  { id, agent, origin }: Session,
  ledger: Ledger,
  readConfig: () => EngineConfig,
): SpendingGuard {
  const pending = pendingOn.get(ledger) ?? new Map<string, PendingCall>();
  pendingOn.set(ledger, pending);
  // A sub-agent spends with the session that started it.
  const root = origin?.parent?.sessionId ?? id;
  const pendingIn = (scope: CapScope): bigint =>
    [...pending]
      .filter(([other, call]) => {
        if (other === id) return false;
        return scope === "day" || (scope === "agent" ? call.agent === agent : call.root === root);
      })
      .reduce((sum, [, { picoUsd }]) => sum + picoUsd, 0n);
  return {
    check: async (call) => {
      const { spending = {} } = readConfig();
      const caps = toCaps(spending);
      if (Object.keys(caps).length === 0) return null;
      const asked: readonly (readonly [CapScope, Promise<bigint>])[] = [
        ...(caps.session === undefined
          ? []
          : [["session", ledger.sumSpending({ sessionId: id })] as const]),
        ...(caps.agent === undefined ? [] : [["agent", ledger.sumSpending({ agent })] as const]),
        ...(caps.day === undefined
          ? []
          : [["day", ledger.sumSpending({ sinceMs: dayStartMs(call.nowMs, spending) })] as const]),
      ];
      const spent: Partial<Record<CapScope, bigint>> = {};
      for (const [scope, sum] of asked) spent[scope] = (await sum) + pendingIn(scope);
      const reached = findCapReached(caps, spent, call);
      if (reached === null) {
        pending.set(id, { root, agent, picoUsd: worstCost(call) ?? 0n });
      }
      return reached;
    },
    settle: () => void pending.delete(id),
  };
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
