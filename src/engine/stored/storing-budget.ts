// Whether making or extending a stored prefix may be paid: the hourly budget of all sessions, and the spending caps.
import { noPlan } from "../../core/cache/cache-plan.ts";
import type { StoringDecision } from "../../core/cache/stored-prefix.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { storageCost } from "../../core/models/stored-rules.ts";
import type { Session } from "../../core/session/session.ts";
import { createTurnEmitter, type Emitter } from "../events/turn-emitter.ts";
import type { EngineConfig } from "../session/engine-config.ts";
import { createSpendingGuard, refuseOverCap } from "../session/spending.ts";

export interface Paying {
  readonly ledger: Ledger;
  readonly events: Emitter | undefined;
  readonly config: EngineConfig;
  readonly usdPerHour: number;
  readonly nowMs: number;
}

const hourMs = 3_600_000;

/** Null if it may be paid; otherwise a sentence for people. */
export async function whyNotPaid(
  decision: StoringDecision,
  session: Session,
  paying: Paying,
): Promise<string | null> {
  if (decision.do !== "create" && decision.do !== "extend") return null;
  const { costPicoUsdMax: most } = decision;
  const budget = BigInt(Math.floor(paying.usdPerHour * 1e12));
  const spent = await spentInHour(session, paying);
  if (spent + most > budget) {
    const [may, all, gone] = [most, budget, spent].map((pico) => formatUsdRounded(pico, 4));
    return `storing may cost ${may}, and of ${all} for an hour ${gone} is spent`;
  }
  return decision.do === "create" ? whyOverCap(decision.prefix.tokens, session, paying) : null;
}

async function whyOverCap(
  tokens: number,
  session: Session,
  { ledger, events, config, nowMs }: Paying,
): Promise<string | null> {
  const guard = createSpendingGuard(session, ledger, () => config, Symbol("storing"));
  const about = { sessionId: session.id, turnId: null, chain: { current: null } };
  const emitter = createTurnEmitter(events, about);
  const plan = { ...noPlan, expected: { ...noPlan.expected, uncachedTokens: tokens } };
  const call = { plan, outputTokensMax: 0, nowMs };
  const refused = await refuseOverCap(session, call, { guard, emitter });
  guard.settle();
  return refused?.detail ?? null;
}

/** What was booked, and what is being kept and not booked yet. */
async function spentInHour({ model }: Session, { ledger, nowMs }: Paying): Promise<bigint> {
  const booked = await ledger.sumLoneCalls("stored", nowMs - hourMs);
  const rules = model.cache.stored;
  if (rules === null) return booked;
  const open = await ledger.listResources();
  return open.reduce((sum, { tokens, createdMs, expiresMs }) => {
    const span = { tokens, fromMs: createdMs, toMs: Math.min(nowMs, expiresMs) };
    return sum + (storageCost(span, rules) ?? 0n);
  }, booked);
}
