// Chooses the model of the next turn, and gives the session with that model.
import {
  decideRoute,
  type LeftModel,
  type PassedOver,
  type Route,
  type RouteFacts,
  type RouteSource,
  type RouteTurn,
  type RouteWishes,
} from "../../core/routing/decide-route.ts";
import { toBlocks, type AgentEvent } from "../../core/layers/event.ts";
import type { Block, Message } from "../../core/message/message.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { declareCapabilities } from "../../core/wire/capabilities.ts";
import type { CallOptions } from "../../core/wire/protocol.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { EngineContext, Reached } from "./engine-deps.ts";
import { optionsOf, policyOf, routingOf, type EngineConfig, spell } from "./engine-config.ts";
import { previewNextCall } from "./preview-next-call.ts";
import type { Session, StaysWith } from "../../core/session/session.ts";
import { switchModel } from "./switch-model.ts";
import type { TurnPart } from "../turn/turn-handle.ts";
import { foundationOf, type World } from "../world/world.ts";
import { askedRoleOf } from "../../core/session/session-role.ts";

/** A session and how its model is reached. */
export interface ReachedSession {
  readonly session: Session;
  readonly reached: Reached;
}

export interface RoutedTurn extends ReachedSession {
  readonly route: Route;
}

export interface AskedTurn {
  readonly event: AgentEvent;
  /** The model for this turn only; null for none. */
  readonly model: string | null;
  /** Whether its history may be compacted; true by default. */
  readonly mayCompact?: boolean;
}

export async function routeTurn(
  context: EngineContext,
  reachedSession: ReachedSession,
  world: World,
  asked: AskedTurn,
): Promise<RoutedTurn> {
  const { session } = reachedSession;
  const config = await context.readConfig();
  const nowMs = (context.deps.now ?? Date.now)();
  const blocks = toBlocks(asked.event.content);
  const wishes = wishesOf(config, session, asked);
  const failed = failedIn(
    context,
    session.resting.filter(({ untilMs }) => untilMs > nowMs),
  );
  const chosen = await chooseModel(context, reachedSession, world, {
    turn: describeTurn(session, blocks),
    wishes,
    failed,
    fits: (to) => fits(to, [{ role: "user", content: blocks }], config),
  });
  if (chosen.kind === "none") throw noModel(session, chosen.passedOver);
  const { to, by, name, passedOver } = chosen;
  const isMoved = to.session !== session;
  if (isMoved) updateSkills(world, session, to.session);
  return {
    session: { ...to.session, staysWith: staysWithAfter(session, by, name) },
    reached: to.reached,
    route: { by, passedOver, left: isMoved ? toLeft(session, nowMs) : null },
  };
}

/** The model that a session leaves. */
export function toLeft(session: Session, nowMs: number): LeftModel {
  return {
    model: session.model.id,
    cachedTokens: previewNextCall(session, nowMs).cachedTokens,
  };
}

export interface ModelChoice {
  readonly turn: RouteTurn;
  readonly wishes: RouteWishes;
  readonly failed: RouteFacts["failed"];
  /** Whether the model of the moved session can take the conversation. */
  readonly fits: (to: Session) => boolean;
}

export type ChosenModel =
  | {
      readonly kind: "chosen";
      readonly to: ReachedSession;
      /** As `Session.modelName`. */
      readonly name: string;
      readonly by: RouteSource;
      readonly passedOver: readonly PassedOver[];
    }
  | { readonly kind: "none"; readonly passedOver: readonly PassedOver[] };

/** Decides, then lays out the prompt of the decided model: it may turn out that it cannot take it. */
export async function chooseModel(
  context: EngineContext,
  reachedSession: ReachedSession,
  world: World,
  { turn, wishes, failed, fits: fitsIn }: ModelChoice,
): Promise<ChosenModel> {
  const { deps } = context;
  const { session } = reachedSession;
  const tooSmall = new Set<ModelFacts>();
  const uncached = new Set<ModelFacts>();
  const unreached = new Set<ModelFacts>();
  const asksForCaching = wishes.routing.promptCaching !== null;
  const facts: RouteFacts = {
    find: (name) => findModel(spell(name, deps), deps.catalogue)?.facts ?? null,
    isReachable: (model) => !unreached.has(model) && (deps.canReach?.(model) ?? true),
    isCurrent: (model) => findModel(session.modelName, deps.catalogue)?.facts === model,
    isTooSmall: (model) => tooSmall.has(model),
    cachesPrompts: (model) => !uncached.has(model) && mayCachePrompts(model),
    failed,
  };
  for (;;) {
    const decision = decideRoute(turn, wishes, facts);
    if (decision.kind === "none") return decision;
    const { model, by, passedOver } = decision;
    const name = spell(decision.name, deps);
    const moving = moveTo(context, reachedSession, world, { name, model });
    // A model that is not there cannot help a turn; any other is an error of the configuration.
    const to = await (by === "fallback" ? moving.catch(orNull) : moving);
    if (to === null) unreached.add(model);
    else if (asksForCaching && facts.cachesPrompts(model) && !keepsPrompts(to.reached, model)) {
      uncached.add(model);
    } else if (to.session === session || fitsIn(to.session)) {
      return { kind: "chosen", to, name, by, passedOver };
    } else tooSmall.add(model);
  }
}

function orNull(error: unknown): null {
  if (error instanceof StrataError) return null;
  throw error;
}

/** As far as the model's facts say: a protocol may still not be able to ask for it. */
function mayCachePrompts(model: ModelFacts): boolean {
  return declareCapabilities({ writesMarkers: true }, model).supportsPromptCaching;
}

function keepsPrompts({ protocol }: Reached, model: ModelFacts): boolean {
  return declareCapabilities(protocol, model).supportsPromptCaching;
}

/** Models whose providers failed: in this turn, or a short while ago. Both by `Session.modelName`. */
export function failedIn(
  { deps }: EngineContext,
  resting: readonly { readonly name: string }[],
  tried: readonly string[] = [],
): RouteFacts["failed"] {
  const isNamed = (model: ModelFacts, name: string): boolean =>
    findModel(name, deps.catalogue)?.facts === model;
  return (model) => {
    if (tried.some((name) => isNamed(model, name))) return "provider_failed";
    return resting.some(({ name }) => isNamed(model, name)) ? "recently_failed" : null;
  };
}

/** Whether the model can take the conversation without a compaction. */
export function fits(
  session: Session,
  messages: readonly Message[],
  config: EngineConfig,
): boolean {
  const { promptTokens, limitTokens } = previewNextCall(session, 0, config);
  const { counter } = session.thread.foundation;
  const newTokens = messages.reduce((sum, message) => sum + counter.message(message), 0);
  return promptTokens + newTokens <= limitTokens;
}

export function toRoutePart({ model }: Session, { by, passedOver, left }: Route): TurnPart {
  const { id, provider } = model;
  return { type: "route", model: id, provider, by, passedOver, previousModel: left?.model ?? null };
}

/** Moves the session to the model; returns the same session if it already uses it. */
export async function moveTo(
  { deps, readConfig }: EngineContext,
  { session, reached }: ReachedSession,
  world: World,
  { name: modelName, model }: NamedModel,
): Promise<ReachedSession> {
  if (session.modelName === modelName) return { session, reached };
  const config = await readConfig();
  const next = await deps.reach(model);
  const { protocol } = next;
  const usual = findModel(spell(config.model, deps), deps.catalogue)?.facts;
  const options = optionsFor(config, model, usual?.provider === model.provider);
  const to = { model, modelName, protocol, policy: policyOf(config), options };
  const { ledger, counter } = deps;
  const context = (): ReturnType<typeof foundationOf> => foundationOf(world, askedRoleOf(session));
  const moved = await switchModel(session, to, { ledger, counter, context });
  return { session: moved, reached: next };
}

export interface NamedModel {
  /** As `Session.modelName`. */
  readonly name: string;
  readonly model: ModelFacts;
}

/** Options in one provider's own spelling mean nothing to another provider. */
function optionsFor(config: EngineConfig, model: ModelFacts, isSameProvider: boolean): CallOptions {
  const options = optionsOf(config, model);
  const { thinkingJson: _, extraJson: __, betas: ___, ...plain } = options;
  return isSameProvider ? options : plain;
}

/** Skill bodies may be in the system text of one model only. */
export function updateSkills({ skills }: World, before: Session, after: Session): void {
  const gone = before.preactivated.filter(
    ({ name }) => !after.preactivated.some((each) => each.name === name),
  );
  skills?.releaseCompacted(gone.map(({ name }) => name));
  skills?.preactivate(after.preactivated);
}

function wishesOf(
  config: EngineConfig,
  { staysWith }: Session,
  { model: message }: AskedTurn,
): RouteWishes {
  const routing = routingOf(config);
  const isDelegated = staysWith?.chosenBy === "delegate";
  const isChosen = staysWith?.chosenBy === "person";
  const isSticky = isChosen || (routing.isSticky && !isDelegated);
  return {
    message,
    sticky: isSticky ? (staysWith?.model ?? null) : null,
    isChosen,
    routing,
    delegate: isDelegated ? staysWith.model : null,
    globalDefault: config.model,
  };
}

/** `blocks`: what is new. */
export function describeTurn(session: Session, blocks: readonly Block[]): RouteTurn {
  const { agent, role, thread, options, otherModels, cache } = session;
  const { foundation } = thread;
  // Models count differently: the largest known size makes a rule independent of the last model.
  const known = otherModels.map(({ setup }) => setup?.thread.end.tokens ?? 0);
  const size = Math.max(thread.end.tokens, ...known);
  return {
    agent,
    role,
    words: blocks.map(wordsOf).join("\n"),
    hasImages: blocks.some(({ type }) => type === "image"),
    hasEarlierImages: cache.contents.hasImages,
    promptTokens: size + foundation.counter.message({ role: "user", content: blocks }),
    needsTools: foundation.tools.length > 0,
    needsSystemPrompt: foundation.system.length > 0,
    needsStructuredOutput: options.outputSchemaJson !== undefined,
  };
}

function wordsOf(block: Block): string {
  return block.type === "text" ? block.text : "";
}

/** A model for one message, or while another one rests, ends with it; a chosen model stays. */
function staysWithAfter({ staysWith }: Session, by: RouteSource, name: string): StaysWith | null {
  const isChosen = staysWith !== null && staysWith.chosenBy !== null;
  const isForNow = by === "message" || by === "fallback";
  return isForNow || isChosen ? staysWith : { model: name, chosenBy: null };
}

function noModel({ id }: Session, passedOver: readonly PassedOver[]): StrataError {
  const why = passedOver.map(({ name, by, reason }) => `${name} (${by}): ${reason}`).join("; ");
  return new StrataError(
    "environment-unfit",
    `no model can take the next turn of session ${id}: ${why === "" ? "none is configured" : why}`,
    "choose one that can, or shorten the conversation: strata models shows what each takes",
  );
}
