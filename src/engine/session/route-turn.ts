// Chooses the model of the next turn, and gives the session with that model.
import {
  decideRoute,
  type PassedOver,
  type Route,
  type RouteDecision,
  type RouteSource,
  type RouteTurn,
} from "../../core/routing/decide-route.ts";
import { toBlocks, type AgentEvent } from "../../core/layers/event.ts";
import type { Block } from "../../core/message/message.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
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
  const tooSmall = new Set<ModelFacts>();
  for (;;) {
    const decision = decide(context, config, session, asked, tooSmall);
    if (decision.kind === "none") throw noModel(session, decision.passedOver);
    const { model, by, passedOver } = decision;
    const name = spell(decision.name, context.deps);
    const to = await moveTo(context, reachedSession, world, { name, model });
    const isMoved = to.session !== session;
    if (isMoved && !fits(to.session, asked.event, config)) {
      tooSmall.add(model);
      continue;
    }
    if (isMoved) updateSkills(world, session, to.session);
    const nowMs = (context.deps.now ?? Date.now)();
    const { cachedTokens } = isMoved ? previewNextCall(session, nowMs) : nothingKept;
    return {
      session: { ...to.session, staysWith: staysWithAfter(session, by, name) },
      reached: to.reached,
      route: { by, passedOver, left: isMoved ? { model: session.model.id, cachedTokens } : null },
    };
  }
}

/** Whether the model can take the conversation without a compaction. */
function fits(session: Session, { content }: AgentEvent, config: EngineConfig): boolean {
  const { promptTokens, limitTokens } = previewNextCall(session, 0, config);
  const { counter } = session.thread.foundation;
  const newTokens = counter.message({ role: "user", content: toBlocks(content) });
  return promptTokens + newTokens <= limitTokens;
}

export function toRoutePart({ model }: Session, { by, passedOver, left }: Route): TurnPart {
  const { id, provider } = model;
  return { type: "route", model: id, provider, by, passedOver, previousModel: left?.model ?? null };
}

const nothingKept = { cachedTokens: 0 };

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

function decide(
  { deps }: EngineContext,
  config: EngineConfig,
  session: Session,
  { event, model: message }: AskedTurn,
  tooSmall: ReadonlySet<ModelFacts>,
): RouteDecision {
  const routing = routingOf(config);
  const { staysWith } = session;
  const isDelegated = staysWith?.chosenBy === "delegate";
  const isSticky = staysWith?.chosenBy === "person" || (routing.isSticky && !isDelegated);
  return decideRoute(
    describeTurn(session, event),
    {
      message,
      sticky: isSticky ? (staysWith?.model ?? null) : null,
      routing,
      delegate: isDelegated ? staysWith.model : null,
      globalDefault: config.model,
    },
    {
      find: (name) => findModel(spell(name, deps), deps.catalogue)?.facts ?? null,
      isReachable: (model) => deps.canReach?.(model) ?? true,
      isCurrent: (model) => findModel(session.modelName, deps.catalogue)?.facts === model,
      isTooSmall: (model) => tooSmall.has(model),
    },
  );
}

function describeTurn(session: Session, event: AgentEvent): RouteTurn {
  const { agent, role, thread, options, otherModels, cache } = session;
  const { foundation } = thread;
  const blocks = toBlocks(event.content);
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

/** A model for one message ends with it; a chosen model stays. */
function staysWithAfter({ staysWith }: Session, by: RouteSource, name: string): StaysWith | null {
  const isChosen = staysWith !== null && staysWith.chosenBy !== null;
  return by === "message" || isChosen ? staysWith : { model: name, chosenBy: null };
}

function noModel({ id }: Session, passedOver: readonly PassedOver[]): StrataError {
  const why = passedOver.map(({ name, by, reason }) => `${name} (${by}): ${reason}`).join("; ");
  return new StrataError(
    "environment-unfit",
    `no model can take the next turn of session ${id}: ${why === "" ? "none is configured" : why}`,
    "choose one that can, or shorten the conversation: strata models shows what each takes",
  );
}
