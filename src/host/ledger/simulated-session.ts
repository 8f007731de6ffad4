// Marks simulated sessions in the ledger, and stops a real model from continuing one, or the reverse.
import { fieldsOf, listIn } from "../../core/message/fields.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import { StrataError } from "../../core/strata-error.ts";
import { findVendor } from "../../core/wire/protocols.ts";
import type { World } from "../../engine/world/world.ts";

/** The mark that is recorded with a simulated session. */
export interface Simulation {
  /** Whether its folder was made for it and removed with it. */
  readonly isTemporary: boolean;
}

const noteName = "simulation";

/** Records the sessions of this world as simulated. */
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
  const context = fieldsOf(contextJson === null ? null : JSON.parse(contextJson));
  const found = listIn(context, "madeOf")
    .map(fieldsOf)
    .find((each) => each["name"] === noteName);
  const note = found?.["note"];
  return note === undefined ? null : { isTemporary: fieldsOf(note)["isTemporary"] === true };
}

/** Refuses a simulated session if models are real, and a real one if they are simulated. */
export function requireSameKind(record: SessionRecord, isSimulated: boolean): void {
  const wasSimulated = simulationOf(record) !== null;
  if (wasSimulated === isSimulated) return;
  const { id, provider } = record;
  const key = findVendor(provider)?.keyVariable;
  if (wasSimulated) {
    throw new StrataError(
      "environment-unfit",
      `session ${id} was simulated, and a real provider would answer now`,
      "begin a new session; without a key, the simulator continues this one",
    );
  }
  throw new StrataError(
    "environment-unfit",
    `session ${id} was with ${provider}, and only the simulator would answer now`,
    key === undefined ? `configure providers.${provider}` : `set ${key}`,
  );
}
