// Real and simulated do not mix: an engine is one or the other as long as it is open, and so is a session for good.
import type { StrataConfig } from "../core/config/schema.ts";
import { modelOf } from "../core/config/resolve-agent.ts";
import type { SessionRecord } from "../core/ledger/session-record.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import { resolveModel } from "../core/models/resolve-model.ts";
import { StrataError } from "../core/strata-error.ts";
import { chooseProvider } from "../edge/providers/reach-choice.ts";
import type { Providers, ReachedModel } from "../edge/providers/reach-providers.ts";
import { createLiveCatalogue } from "../engine/config-catalogue.ts";
import type { World } from "../engine/world.ts";
import { readProviderAccess } from "./environment.ts";

export interface SidedProviders extends Providers {
  /** Whether there is somebody who answers for it on this side. */
  canReach(model: ModelFacts): boolean;
}

/**
 * Whoever was reached once is reached again, whatever a file says by then. A simulated model would otherwise get the
 * tools and the folder of a real one, and its dollars would be booked as money.
 */
export function keepToSide(providers: Providers, isSimulated: boolean): SidedProviders {
  const reached = new Map<string, ReachedModel>();
  const isHere = (model: ModelFacts): boolean =>
    (providers.choose(model).kind === "simulated") === isSimulated;
  return {
    ...providers,
    canReach: (model) => unlessRefused(() => isHere(model) || reached.has(keyOf(model))),
    reach: async (model) => {
      if (!isHere(model)) return reached.get(keyOf(model)) ?? refuse(model, isSimulated);
      const found = await providers.reach(model);
      reached.set(keyOf(model), found);
      return found;
    },
  };
}

function keyOf({ id, provider, route }: ModelFacts): string {
  return JSON.stringify([id, provider, route]);
}

/** A model whose provider is missing while others are there cannot be asked. */
function unlessRefused(find: () => boolean): boolean {
  try {
    return find();
  } catch (error) {
    if (error instanceof StrataError) return false;
    throw error;
  }
}

function refuse({ id }: ModelFacts, isSimulated: boolean): never {
  throw new StrataError(
    "input-invalid",
    isSimulated
      ? `${id} is real, and what runs here is simulated`
      : `${id} would be simulated, and what runs here is real`,
    "the two do not mix: begin a session of its own with it",
  );
}

/** Whether the simulator would answer for a model by this name or nickname. */
export function isSimulatedBy(config: StrataConfig, name: string): boolean {
  const catalogue = createLiveCatalogue(() => config);
  const { facts } = resolveModel(modelOf(config, name), catalogue);
  const isOwnRoute = catalogue.routesOf(facts.id)[0] === facts.route;
  return chooseProvider({ ...facts, isOwnRoute }, config.providers).kind === "simulated";
}

/** What is recorded with a simulated session. */
export interface Simulation {
  /** Whether its folder was made for it and goes with the process. */
  readonly isTemporary: boolean;
}

const noteName = "simulation";

/** Sessions of this world are recorded as simulated. */
export function markSimulated(world: World, simulation: Simulation): World {
  return {
    ...world,
    context: async () => {
      const { notes, ...context } = await world.context();
      return { ...context, notes: { ...notes, [noteName]: simulation } };
    },
  };
}

/** Null for a session that was with a real provider. */
export function simulationOf({
  contextJson,
}: Pick<SessionRecord, "contextJson">): Simulation | null {
  const context: unknown = contextJson === null ? null : JSON.parse(contextJson);
  const madeOf: unknown = property(context, "madeOf");
  const notes: readonly unknown[] = Array.isArray(madeOf) ? madeOf : [];
  const told = notes.find((each) => property(each, "name") === noteName);
  const note = property(told, "note");
  if (note === undefined) return null;
  return { isTemporary: property(note, "isTemporary") === true };
}

function property(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

/** Made-up answers do not go on with a real session, nor real ones with a made-up one. */
export function requireSide(record: SessionRecord, isSimulated: boolean): void {
  const wasSimulated = simulationOf(record) !== null;
  if (wasSimulated === isSimulated) return;
  const { id, provider } = record;
  const key = readProviderAccess({}, provider)?.keyName;
  if (wasSimulated) {
    throw new StrataError(
      "environment-unfit",
      `session ${id} was simulated, and a real provider would answer now`,
      "begin a new session; without a key, the simulator goes on with this one",
    );
  }
  throw new StrataError(
    "environment-unfit",
    `session ${id} was with ${provider}, and only the simulator would answer now`,
    key === undefined ? `configure providers.${provider}` : `set ${key}`,
  );
}
