// How the ledger knows a simulated session, and the check that it is not continued by a real model or the other way.
import type { SessionRecord } from "../core/ledger/session-record.ts";
import { StrataError } from "../core/strata-error.ts";
import type { World } from "../engine/world/world.ts";
import { readProviderAccess } from "./environment.ts";

/** Recorded with a simulated session. */
export interface Simulation {
  /** Whether its folder was made for it and removed with it. */
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

/** Null for a session with a real provider. */
export function simulationOf({
  contextJson,
}: Pick<SessionRecord, "contextJson">): Simulation | null {
  const context: unknown = contextJson === null ? null : JSON.parse(contextJson);
  const madeOf: unknown = property(context, "madeOf");
  const notes: readonly unknown[] = Array.isArray(madeOf) ? madeOf : [];
  const found = notes.find((each) => property(each, "name") === noteName);
  const note = property(found, "note");
  if (note === undefined) return null;
  return { isTemporary: property(note, "isTemporary") === true };
}

function property(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

/** Refuses a simulated session where models are real, and a real one where they are simulated. */
export function requireSameKind(record: SessionRecord, isSimulated: boolean): void {
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
