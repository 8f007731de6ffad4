// For commands on a ledger: opens the one --store names, and prints problems as warnings.
import { messageOf, StrataError } from "../core/strata-error.ts";
import type { CommandInput, Io } from "./command.ts";
import {
  atLedgerPlace,
  findSimulatedBeside,
  refuseMissing,
  simulatedPlace,
  usualOrigin,
  wayTo,
  type LedgerPlace,
} from "../host/ledger/ledger-place.ts";
import { toPrintable } from "./ledger/render-ledger.ts";
import {
  withMadeStore,
  withStore,
  type StoreWish,
  type StoreWork,
} from "../host/ledger/open-ledger.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import { findSessionId } from "./sessions/name-session.ts";
import type { SessionRecord } from "../core/ledger/session-record.ts";
import { didYouMean } from "../core/nearest-names.ts";

/** A missing ledger is an error, unless the command handles it with `ifMissing`. */
export function useLedger(
  input: CommandInput,
  io: Io,
  work: StoreWork<number>,
  ifMissing: (place: LedgerPlace) => number = refuseMissing,
): Promise<number> {
  return withStore(wishOf(input, io), work, ifMissing);
}

/**
 * For questions: where nothing is named and no provider has answered yet, they are about the simulated sessions, and a notice says so.
 */
export async function useFoundLedger(
  input: CommandInput,
  io: Io,
  work: StoreWork<number>,
  ifMissing: (place: LedgerPlace) => number = refuseMissing,
): Promise<number> {
  let found: string | null = null;
  const status = await useLedger(input, io, work, (place) => {
    const isNamed = !place.origin.startsWith(usualOrigin) || input.switches.has("simulated");
    found = isNamed ? null : findSimulatedBeside(place);
    return found === null ? ifMissing(place) : 0;
  });
  if (found === null) return status;
  io.error(
    `No provider has answered yet; these are simulated sessions, from ${toPrintable(found)}.\n`,
  );
  const switches = new Set([...input.switches, "simulated"]);
  return useLedger({ ...input, switches }, io, work, ifMissing);
}

/** Creates the ledger if it is missing. */
export function useMadeLedger(
  input: CommandInput,
  io: Io,
  work: StoreWork<number>,
): Promise<number> {
  return withMadeStore(wishOf(input, io), work);
}

/** For a command that opens the ledger itself. */
export function atPlace(
  input: CommandInput,
  io: Io,
  work: (place: LedgerPlace) => Promise<number>,
): Promise<number> {
  return atLedgerPlace(wishOf(input, io), work);
}

function wishOf({ values, switches }: CommandInput, io: Io): StoreWish {
  const isSimulated = switches.has("simulated");
  if (isSimulated && values.has("store")) {
    throw new StrataError("usage", "--simulated and --store name two ledgers", "give one of them");
  }
  return {
    env: io.env,
    store: isSimulated ? simulatedPlace(io.env) : values.get("store"),
    configFile: values.get("config"),
    onProblem: createOnProblem(io),
  };
}

/** Prints problems that do not end the command as warnings. */
export function createOnProblem({ error }: Pick<Io, "error">): (problem: unknown) => void {
  return (problem) => {
    const hint = problem instanceof StrataError ? `\n  ${problem.hint}` : "";
    error(toPrintable(`strata: warning: ${messageOf(problem)}${hint}\n`));
  };
}

/** By its name, or by the first letters of a generated one. */
export async function needSession(
  ledger: Ledger,
  typed: string,
  { name, where, origin }: LedgerPlace,
): Promise<SessionRecord> {
  const id = await findSessionId(ledger, typed);
  const found = await ledger.findSession(id);
  if (found !== null) return found;
  const latest = await ledger.listSessions({ origin: "all", status: "all", limit: 500 });
  const known = latest.map((session) => session.id);
  const suggestion = didYouMean(id, known, "see: strata sessions --all");
  const beside = findSimulatedBeside({ where });
  const other = beside === null ? "" : `, or for a simulated one ${wayTo(beside, { origin })}`;
  const hint = `${suggestion}${other} (the ledger was chosen by ${origin})`;
  throw new StrataError("not-found", `there is no session ${id} in ${name}`, hint);
}
