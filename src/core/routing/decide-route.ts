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

export function decideRoute(
  turn: RouteTurn,
  wishes: RouteWishes,
  facts: RouteFacts,
): RouteDecision {
  const passedOver: PassedOver[] = [];
  for (const { name, by } of wishesInOrder(turn, wishes)) {
    const model = facts.find(name);
    const reason = model === null ? "not_configured" : findRefusal(model, turn, facts);
    if (model !== null && reason === null) return { kind: "decided", model, name, by, passedOver };
    passedOver.push({ name, by, reason: reason ?? "not_configured" });
  }
  return { kind: "none", passedOver };
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
  { isReachable, isCurrent, isTooSmall }: RouteFacts,
): RouteRefusal | null {
  const { capabilities: can } = model;
  if (!isReachable(model)) return "provider_unavailable";
  const hasImages = turn.hasImages || turn.hasEarlierImages;
  if (hasImages && !can.images) return "no_vision_support";
  const isTooLong = turn.promptTokens > model.inputTokensMax || isTooSmall(model);
  if (isTooLong && !isCurrent(model)) return "exceeds_context_window";
  if (turn.needsTools && !can.tools) return "no_tool_support";
  if (turn.needsSystemPrompt && !can.systemPrompt) return "no_system_prompt_support";
  if (turn.needsStructuredOutput && !can.structuredOutput) return "no_structured_output_support";
  return null;
}
