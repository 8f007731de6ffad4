// Picks the model of a turn: the first candidate that is possible, and why earlier ones were not.
import type { PayloadOf } from "../events/event.ts";
import type { AgentRole } from "../message/assembled-context.ts";
import { matchesPattern } from "../config/match-pattern.ts";
import type { RoutingConfig, RoutingRule } from "../config/schema/models.ts";
import type { ModelFacts } from "../models/model-facts.ts";

export type RouteSource = PayloadOf<"route.decided">["reason"];

export const routeRefusals = [
  "not_configured",
  "provider_unavailable",
  "no_vision_support",
  "exceeds_context_window",
  "no_tool_support",
  "no_system_prompt_support",
  "no_structured_output_support",
  "no_prompt_caching_support",
  /** In this turn. */
  "provider_failed",
  /** A short while ago, in an earlier turn. */
  "recently_failed",
] as const;

export type RouteRefusal = (typeof routeRefusals)[number];

/** What a turn's routing depends on. */
export interface RouteTurn {
  readonly agent: string;
  readonly role: AgentRole;
  /** The user's text. */
  readonly words: string;
  /** In this message. */
  readonly hasImages: boolean;
  /** In earlier messages, which are sent again. */
  readonly hasEarlierImages: boolean;
  readonly promptTokens: number;
  readonly needsTools: boolean;
  readonly needsSystemPrompt: boolean;
  readonly needsStructuredOutput: boolean;
}

export interface RouteWishes {
  /** For this message only. Null for none. */
  readonly message: string | null;
  /** The model the session stays with. Null if every turn is decided anew. */
  readonly sticky: string | null;
  readonly routing: RoutingConfig;
  /** The model that the delegating agent asked for. */
  readonly delegate: string | null;
  readonly globalDefault: string | null;
  /** Whether a person chose `sticky`: then a preference does not override it. */
  readonly isChosen: boolean;
}

export interface RouteFacts {
  /** Null for an unknown name. */
  readonly find: (name: string) => ModelFacts | null;
  /** Whether a provider for it is configured and up. */
  readonly isReachable: (model: ModelFacts) => boolean;
  /** Whether the session already uses it: a history that does not fit is then compacted. */
  readonly isCurrent: (model: ModelFacts) => boolean;
  /** Whether the session's history turned out to be too long for it. */
  readonly isTooSmall: (model: ModelFacts) => boolean;
  /** Whether its provider keeps prompts, and what is read costs less. */
  readonly cachesPrompts: (model: ModelFacts) => boolean;
  /** Whether its provider failed for good in this turn, or a short while ago. Null for neither. */
  readonly failed: (model: ModelFacts) => "provider_failed" | "recently_failed" | null;
}

export interface PassedOver {
  readonly name: string;
  readonly by: RouteSource;
  readonly reason: RouteRefusal;
}

export type RouteDecision = {
  readonly passedOver: readonly PassedOver[];
} & (
  | {
      readonly kind: "decided";
      readonly model: ModelFacts;
      /** The name as requested. */
      readonly name: string;
      readonly by: RouteSource;
    }
  | { readonly kind: "none" }
);

/** What was decided for a turn. */
export interface Route {
  readonly by: RouteSource;
  /** Models that were wanted first, and why they could not be used. */
  readonly passedOver: readonly PassedOver[];
  /** The model the session was with before; null where it stays. */
  readonly left: LeftModel | null;
}

export interface LeftModel {
  readonly model: string;
  /** What of the conversation its provider still keeps. */
  readonly cachedTokens: number;
}

/** The first wish that nothing speaks against; else the first that is possible. */
export function decideRoute(
  turn: RouteTurn,
  wishes: RouteWishes,
  facts: RouteFacts,
): RouteDecision {
  const judged = wishesInOrder(turn, wishes).map((wish) => judge(wish, turn, wishes, facts));
  return (
    pick(judged, ({ refusal, doubt }) => refusal ?? doubt) ??
    pick(judged, ({ refusal }) => refusal) ?? { kind: "none", passedOver: refused(judged) }
  );
}

interface JudgedWish extends Wish {
  /** Null for a name that is not known. */
  readonly model: ModelFacts | null;
  readonly refusal: RouteRefusal | null;
  /** Why another model comes first, if there is one. */
  readonly doubt: RouteRefusal | null;
}

function judge(wish: Wish, turn: RouteTurn, wishes: RouteWishes, facts: RouteFacts): JudgedWish {
  const model = facts.find(wish.name);
  if (model === null) return { ...wish, model, refusal: "not_configured", doubt: null };
  const refusal = findRefusal(model, turn, wishes.routing, facts);
  return { ...wish, model, refusal, doubt: findDoubt(model, wish, wishes, facts) };
}

function pick(
  judged: readonly JudgedWish[],
  reasonOf: (each: JudgedWish) => RouteRefusal | null,
): RouteDecision | null {
  const at = judged.findIndex((each) => reasonOf(each) === null);
  const { model = null, name = "", by = "fallback" } = judged[at] ?? {};
  if (model === null) return null;
  return { kind: "decided", model, name, by, passedOver: refused(judged.slice(0, at), reasonOf) };
}

function refused(
  judged: readonly JudgedWish[],
  reasonOf: (each: JudgedWish) => RouteRefusal | null = ({ refusal }) => refusal,
): readonly PassedOver[] {
  return judged.flatMap((each) => {
    const reason = reasonOf(each);
    return reason === null ? [] : [{ name: each.name, by: each.by, reason }];
  });
}

interface Wish {
  readonly name: string;
  readonly by: RouteSource;
}

function wishesInOrder(turn: RouteTurn, wishes: RouteWishes): readonly Wish[] {
  const { routing } = wishes;
  const rule = routing.rules.find((each) => fits(each, turn));
  const pattern = routing.patterns.find(({ match }) => matchesPattern(match, turn.words));
  const all: readonly (readonly [RouteSource, string | null | undefined])[] = [
    ["message", wishes.message],
    ["sticky", wishes.sticky],
    ["rule", rule?.model],
    ["pattern", pattern?.model],
    ["delegate", wishes.delegate],
    ["workspace_default", routing.workspaceDefault],
    ["global_default", wishes.globalDefault],
    ...routing.fallback.map((name) => ["fallback", name] as const),
  ];
  return all.flatMap(([by, name]) => (name == null ? [] : [{ by, name }]));
}

/** All conditions of a rule must hold. A rule without conditions always fits. */
function fits({ when }: RoutingRule, turn: RouteTurn): boolean {
  const { agent, role, hasImages, tokensMin } = when;
  return (
    (agent === null || agent === turn.agent) &&
    (role === null || role === turn.role) &&
    (hasImages === null || hasImages === turn.hasImages) &&
    (tokensMin === null || turn.promptTokens >= tokensMin)
  );
}

function findRefusal(
  model: ModelFacts,
  turn: RouteTurn,
  { promptCaching }: RoutingConfig,
  { isReachable, isCurrent, isTooSmall, cachesPrompts, failed }: RouteFacts,
): RouteRefusal | null {
  const { capabilities: can } = model;
  if (!isReachable(model)) return "provider_unavailable";
  if (failed(model) === "provider_failed") return "provider_failed";
  const hasImages = turn.hasImages || turn.hasEarlierImages;
  if (hasImages && !can.images) return "no_vision_support";
  const isTooLong = turn.promptTokens > model.inputTokensMax || isTooSmall(model);
  if (isTooLong && !isCurrent(model)) return "exceeds_context_window";
  if (turn.needsTools && !can.tools) return "no_tool_support";
  if (turn.needsSystemPrompt && !can.systemPrompt) return "no_system_prompt_support";
  if (turn.needsStructuredOutput && !can.structuredOutput) return "no_structured_output_support";
  if (promptCaching === "required" && !cachesPrompts(model)) return "no_prompt_caching_support";
  return null;
}

/** A model that is named for this message is asked in any case. */
function findDoubt(
  model: ModelFacts,
  { by }: Wish,
  { routing, isChosen }: RouteWishes,
  { failed, cachesPrompts }: RouteFacts,
): RouteRefusal | null {
  if (by === "message") return null;
  if (failed(model) === "recently_failed") return "recently_failed";
  const isPreferred = routing.promptCaching === "preferred" && !(by === "sticky" && isChosen);
  return isPreferred && !cachesPrompts(model) ? "no_prompt_caching_support" : null;
}
