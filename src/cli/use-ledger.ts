// Commands on a ledger: --store says which, problems are printed beside the result.
import { StrataError } from "../core/strata-error.ts";
import type { CommandInput, Io } from "./command.ts";
import { atLedgerPlace, refuseMissing, type LedgerPlace } from "../host/ledger-place.ts";
import { toPrintable } from "./ledger/render-ledger.ts";
import { withMadeStore, withStore, type StoreWish, type StoreWork } from "../host/open-ledger.ts";

/** A ledger that is not there yet is an error, unless the command has something else to say. */
export function useLedger(
  input: CommandInput,
  io: Io,
  work: StoreWork<number>,
  ifMissing: (place: LedgerPlace) => number = refuseMissing,
): Promise<number> {
  return withStore(wishOf(input, io), work, ifMissing);
}

/** The ledger is made where there is none. */
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

function wishOf({ values }: CommandInput, io: Io): StoreWish {
  return { env: io.env, store: values.get("store"), onProblem: createOnProblem(io) };
}

/** Prints a warning for what does not end a command. */
export function createOnProblem({ error }: Pick<Io, "error">): (problem: unknown) => void {
  return (problem) => {
    const said = problem instanceof Error ? problem.message : String(problem);
    const hint = problem instanceof StrataError ? `\n  ${problem.hint}` : "";
    error(toPrintable(`strata: warning: ${said}${hint}\n`));
  };
}
