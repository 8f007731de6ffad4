// What fills a session's window, by tier and section.
import { itemsOf } from "../../../core/growing/growing-list.ts";
import { planBudget } from "../../../core/tokens/budget.ts";
import { contextPieces } from "../../../core/session/context-pieces.ts";
import type { Session } from "../../../core/session/session.ts";

export interface ContextView {
  readonly windowTokens: number;
  /** What every call sends before the new message: T0 to T3. */
  readonly usedTokens: number;
  /** Reserved for the reply and for tool results. */
  readonly reservedTokens: number;
  readonly freeTokens: number;
  readonly tiers: readonly TierView[];
}

export interface TierView {
  readonly tier: "T0" | "T1" | "T2" | "T3";
  readonly name: string;
  readonly tokens: number;
  /** Largest first. */
  readonly parts: readonly PartView[];
}

export interface PartView {
  readonly name: string;
  readonly tokens: number;
  /** Whether Strata wrote it, not the user. */
  readonly isOurs?: boolean;
}

/** `total`: the tokens as the provider counted them; estimates of the parts are scaled to it. */
export function viewContext(session: Session, total: number): ContextView {
  const { model, thread } = session;
  const { tierTokens } = thread.foundation;
  const share = thread.end.tokens === 0 ? 1 : total / thread.end.tokens;
  const scale = (tokens: number): number => Math.round(tokens * share);
  const [T0, T1, T2] = [scale(tierTokens.T0), scale(tierTokens.T1), scale(tierTokens.T2)];
  const T3 = Math.max(0, total - T0 - T1 - T2);
  const view = (tier: TierView["tier"], name: string, tokens: number): TierView => {
    const parts = partsOf(session, tier).map((part) => ({ ...part, tokens: scale(part.tokens) }));
    return { tier, name, tokens, parts };
  };
  const budget = planBudget(model, { T0, T1, T2, T3, T4: 0, T5: 0 });
  return {
    windowTokens: model.windowTokens,
    usedTokens: budget.usedTokens.total,
    reservedTokens: budget.reserves.responseTokens + budget.reserves.toolTokens,
    freeTokens: Math.max(0, budget.remainingTokens),
    tiers: [
      view("T0", "tools", T0),
      view("T1", "the same in every session", T1),
      view("T2", "of this session", T2),
      view("T3", "conversation", T3),
    ],
  };
}

function partsOf(session: Session, tier: TierView["tier"]): readonly PartView[] {
  const pieces = contextPieces(session)
    .filter((piece) => piece.tier === tier)
    .map(({ name, tokens, from }) => ({ name, tokens, isOurs: from === "strata" }));
  return largestFirst(tier === "T3" ? threadParts(session, pieces) : pieces);
}

function threadParts(session: Session, notes: readonly PartView[]): readonly PartView[] {
  const sums = new Map<string, number>();
  for (const { kind, role, tokens } of itemsOf(session.thread.blocks)) {
    const name = nameOf(kind, role);
    sums.set(name, (sums.get(name) ?? 0) + tokens);
  }
  const noteTokens = notes.reduce((sum, { tokens }) => sum + tokens, 0);
  sums.set(yourText, (sums.get(yourText) ?? 0) - noteTokens);
  return [...notes, ...[...sums].map(([name, tokens]) => ({ name, tokens }))];
}

/** Notes of a compaction are sent in the user's role. */
const yourText = "your text";

function nameOf(kind: string, role: string): string {
  if (kind === "tool_result") return "tool results";
  if (kind === "tool_use") return "tool uses";
  if (kind !== "text") return kind;
  return role === "assistant" ? "agent's text" : yourText;
}

function largestFirst(parts: readonly PartView[]): readonly PartView[] {
  return parts
    .filter(({ tokens }) => tokens > 0)
    .toSorted((left, right) => right.tokens - left.tokens);
}
