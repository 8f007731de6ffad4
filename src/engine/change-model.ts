// A session that is told to go on with another model, and what that means for its next call.
import { StrataError } from "../core/strata-error.ts";
import type { EngineContext } from "./create-engine.ts";
import { findNamed } from "./find-named.ts";
import { foresee, type Foreseen } from "./foresee.ts";
import { moveTo, type Seated } from "./route-turn.ts";
import type { World } from "./world.ts";

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
  const model = findNamed(name, edges);
  const { session } = seated;
  const { promptTokens } = foresee(session, 0);
  if (promptTokens > model.inputTokensMax) {
    throw new StrataError(
      "input-invalid",
      `the conversation takes about ${promptTokens} tokens, and ${model.id} takes ${model.inputTokensMax}`,
      "shorten it first, or choose a model with a larger window",
    );
  }
  const to = await moveTo(context, seated, world, model);
  const nowMs = (edges.now ?? Date.now)();
  const { reserves } = await context.readConfig();
  return {
    session: { ...to.session, staysWith: { model: name, isChosen: true } },
    reached: to.reached,
    told: {
      model: model.id,
      previousModel: session.model.id,
      next: foresee(to.session, nowMs, reserves),
      before: foresee(session, nowMs, reserves),
    },
  };
}
