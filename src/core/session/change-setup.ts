// A session with the setup of another model. Keeps the state of the model that it leaves.
import { openCacheState } from "../cache/cache-state.ts";
import { noSizes } from "../tokens/learned-sizes.ts";
import { foundationNotesOf, type ModelSetup, type ModelState, type Session } from "./session.ts";

/** For so many other models the whole setup stays in memory; the ledger has the rest. */
const madeSetupsMax = 4;
/** For so many other models the session keeps the cache state. */
const otherModelsMax = 16;

export function changeSetup(session: Session, setup: ModelSetup): Session {
  const { model, modelName } = setup;
  const known = session.otherModels.find(({ name }) => name === modelName);
  // One state for each model: the same model on another route replaces it.
  const others = [...(session.isRecorded ? [leave(session)] : []), ...session.otherModels].filter(
    (each) => each.model !== model.id || each.provider !== model.provider,
  );
  const { keptVolatile } = session.thread;
  return {
    ...session,
    ...setup,
    thread: { ...setup.thread, keptVolatile },
    cache: known?.cache ?? openCacheState(),
    sizes: known?.sizes ?? noSizes,
    pace: known?.pace ?? session.pace,
    lastVolatile: known?.lastVolatile ?? null,
    // These sizes belong to the old model.
    compactionState: { ...session.compactionState, noPlace: null },
    otherModels: others
      .slice(0, otherModelsMax)
      .map((each, at) => (at < madeSetupsMax ? each : { ...each, setup: null })),
  };
}

function leave(session: Session): ModelState {
  const { model, modelName, protocol, policy, options, thread, setupPlace } = session;
  const { cache, sizes, pace, lastVolatile } = session;
  // A setup without a completed turn is not in the ledger, and is built again later.
  const called = { model, modelName, protocol, policy, options };
  const setup = setupPlace.isRecorded
    ? { ...called, thread, setupPlace, ...foundationNotesOf(session) }
    : null;
  const name = { model: model.id, provider: model.provider, name: modelName };
  return { ...name, cache, sizes, pace, lastVolatile, setup };
}
