// Finds a model that goes on with a turn whose provider failed for good: the next of the configured list that can.
import type { RouteWishes } from "../../core/routing/decide-route.ts";
import type { RestingModel, Session } from "../../core/session/session.ts";
import { moveTurn, toLeave, type MovedTurn } from "../../core/turn/move-turn.ts";
import type { StepOf } from "../../core/turn/step.ts";
import type { Turn } from "../../core/turn/turn.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { World } from "../world/world.ts";
import { routingOf, type EngineConfig } from "./engine-config.ts";
import type { EngineContext, Reached } from "./engine-deps.ts";
import {
  chooseModel,
  describeTurn,
  failedIn,
  fits,
  toLeft,
  updateSkills,
  type ReachedSession,
} from "./route-turn.ts";

export interface FallenBack {
  readonly moved: MovedTurn;
  readonly reached: Reached;
}

export async function fallBack(
  context: EngineContext,
  { now, world }: { readonly now: ReachedSession; readonly world: World },
  turn: Turn,
  { why, tried }: StepOf<"switch model">,
): Promise<FallenBack | null> {
  const config = await context.readConfig();
  const { fallback } = routingOf(config);
  if (fallback.length === 0) return null;
  const nowMs = (context.deps.now ?? Date.now)();
  const session = rest(toLeave(turn), config, why, nowMs);
  const move = (to: Session, route = turn.route): MovedTurn =>
    moveTurn(turn, to, { route, nowIso: new Date(nowMs).toISOString() });
  const chosen = await chooseModel(context, { ...now, session }, world, {
    turn: describeTurn(
      turn.session,
      turn.current.flatMap(({ content }) => content),
    ),
    wishes: onlyFallback(config),
    failed: failedIn(context, session.resting, tried),
    fits: (to) => fits(move(to).session, turn.current, config),
  });
  if (chosen.kind === "none") return null;
  const { to, by } = chosen;
  updateSkills(world, turn.session, to.session);
  const listed = new Set(chosen.passedOver.map(({ name }) => name));
  const failed = tried
    .filter((name) => !listed.has(name))
    .map((name) => ({ name, by: turn.route.by, reason: "provider_failed" as const }));
  const passedOver = [...failed, ...chosen.passedOver];
  const left = toLeft(turn.session, nowMs);
  return { moved: move(to.session, { by, passedOver, left }), reached: to.reached };
}

/** A provider may ask for a longer wait, within a day. */
const restMsMax = 86_400_000;

/** The failed model is passed over until its rest ends. */
function rest(
  session: Session,
  config: EngineConfig,
  why: ProviderFailure,
  nowMs: number,
): Session {
  const asked = "retryAfterMs" in why ? (why.retryAfterMs ?? 0) : 0;
  const usual = routingOf(config).fallbackRestSeconds * 1000;
  const failed: RestingModel = {
    name: session.modelName,
    untilMs: nowMs + Math.max(usual, Math.min(asked, restMsMax)),
  };
  const others = session.resting.filter(
    ({ name, untilMs }) => name !== failed.name && untilMs > nowMs,
  );
  return { ...session, resting: [...others, failed] };
}

function onlyFallback(config: EngineConfig): RouteWishes {
  const routing = { ...routingOf(config), rules: [], patterns: [], workspaceDefault: null };
  return {
    message: null,
    sticky: null,
    isChosen: false,
    routing,
    delegate: null,
    globalDefault: null,
  };
}
