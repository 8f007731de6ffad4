// Changes the model of a session, and previews the effect on its next call.
import { StrataError } from "../../core/strata-error.ts";
import type { EngineContext } from "./engine-deps.ts";
import { findNamed, spell } from "./engine-config.ts";
import { previewNextCall, type CallPreview } from "./preview-next-call.ts";
import { moveTo, updateSkills, type NamedModel, type ReachedSession } from "./route-turn.ts";
import type { World } from "../world/world.ts";

export interface ModelChange {
  readonly model: string;
  readonly previousModel: string;
  /** As `Session.modelName`. The same model on another route or in another region has another name, and a cache of its own. */
  readonly name: string;
  /** The same as the new name if nothing changed. */
  readonly previousName: string;
  readonly next: CallPreview;
  /** Preview for the old model. Its cache stays as long as the provider keeps it. */
  readonly before: CallPreview;
}

export interface ChangedModel extends ReachedSession {
  readonly change: ModelChange;
}

export async function changeModel(
  context: EngineContext,
  reachedSession: ReachedSession,
  world: World,
  name: string,
): Promise<ChangedModel> {
  const { deps } = context;
  const config = await context.readConfig();
  const { session } = reachedSession;
  const named = { name: spell(name, deps), model: findNamed(name, deps) };
  const to = await moveTo(context, reachedSession, world, named);
  const nowMs = (deps.now ?? Date.now)();
  const next = previewNextCall(to.session, nowMs, config);
  const isMoved = to.session !== session;
  if (isMoved && next.promptTokens > next.limitTokens) throw tooLong(named, next);
  if (isMoved) updateSkills(world, session, to.session);
  return {
    session: {
      ...to.session,
      staysWith: { model: named.name, chosenBy: "person" },
      resting: session.resting.filter(({ name: each }) => each !== named.name),
    },
    reached: to.reached,
    change: {
      model: named.model.id,
      previousModel: session.model.id,
      name: to.session.modelName,
      previousName: session.modelName,
      next,
      before: previewNextCall(session, nowMs, config),
    },
  };
}

function tooLong({ model }: NamedModel, { promptTokens, limitTokens }: CallPreview): StrataError {
  return new StrataError(
    "input-invalid",
    `the conversation has about ${promptTokens} tokens, more than the ${limitTokens} that ${model.id} takes without a compaction`,
    "shorten it first, or choose a model with a larger window",
  );
}
