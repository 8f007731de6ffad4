// A session that is told to go on with another model, and what that means for its next call.
import { StrataError } from "../../core/strata-error.ts";
import type { EngineContext } from "./engine-edges.ts";
import { findNamed, spell } from "./find-named.ts";
import { foresee, type Foreseen } from "./foresee.ts";
import { moveTo, tellSkills, type NamedModel, type Seated } from "./route-turn.ts";
import type { World } from "../world/world.ts";

export interface ModelChange {
  readonly model: string;
  /** The same where nothing changed. */
  readonly previousModel: string;
  readonly next: Foreseen;
  /** Of the model that is left: its cache stays as it is, as long as the provider keeps it. */
  readonly before: Foreseen;
}

export interface ChangedModel extends Seated {
  readonly told: ModelChange;
}

export async function changeModel(
  context: EngineContext,
  seated: Seated,
  world: World,
  name: string,
): Promise<ChangedModel> {
  const { edges } = context;
  const config = await context.readConfig();
  const { session } = seated;
  const named = { name: spell(name, edges), model: findNamed(name, edges) };
  const to = await moveTo(context, seated, world, named);
  const nowMs = (edges.now ?? Date.now)();
  const next = foresee(to.session, nowMs, config);
  const isMoved = to.session !== session;
  if (isMoved && next.promptTokens > next.limitTokens) throw tooLong(named, next);
  if (isMoved) tellSkills(world, session, to.session);
  return {
    session: { ...to.session, staysWith: { model: named.name, chosenBy: "person" } },
    reached: to.reached,
    told: {
      model: named.model.id,
      previousModel: session.model.id,
      next,
      before: foresee(session, nowMs, config),
    },
  };
}

function tooLong({ model }: NamedModel, { promptTokens, limitTokens }: Foreseen): StrataError {
  return new StrataError(
    "input-invalid",
    `the conversation takes about ${promptTokens} tokens of ${model.id}, which takes ${limitTokens} before it has to be folded`,
    "shorten it first, or choose a model with a larger window",
  );
}
