// What replay and explain read: files, or sessions of the ledger that --session and --store name.
import type { Catalogue, CatalogueChanges } from "../core/models/catalogue.ts";
import { StrataError } from "../core/strata-error.ts";
import { loadO200k } from "../core/tokens/o200k/counter.ts";
import { readConfiguredChanges, withChanges } from "../host/config/catalogue.ts";
import { readRecordings } from "../replay/readers/read-recordings.ts";
import type { Recorded } from "../replay/recording.ts";
import type { CommandInput, Io } from "./command.ts";
import { toPrintable } from "./ledger/render-ledger.ts";

export interface GivenRecordings {
  /** The files, or the session and its ledger, for people. */
  readonly from: string;
  /** The paths that the user named; null for a ledger. */
  readonly paths: readonly string[] | null;
  /** Built-in and configured models, and what is configured of them. */
  readonly catalogue: Catalogue;
  readonly changes: CatalogueChanges | null;
  readonly read: (
    onProgress: (bytesRead: number, bytesTotal: number) => void,
  ) => AsyncIterable<Recorded>;
}

export async function withRecordings(
  input: CommandInput,
  io: Io,
  excerpts: boolean,
  work: (given: GivenRecordings) => Promise<number>,
): Promise<number> {
  const { operands, values } = input;
  const wished = values.get("session");
  const isOfLedger = wished !== undefined || values.has("store");
  if (operands.length > 0 && isOfLedger) throw bothGiven();
  if (operands.length === 0 && !isOfLedger) throw nothingGiven();
  const warn = (problem: string): void => io.error(`strata: warning: ${toPrintable(problem)}\n`);
  const changes = await readConfiguredChanges(io.env, warn);
  const catalogue = withChanges(changes);
  const counter = await loadO200k();
  if (!isOfLedger) {
    return work({
      from: operands.join(", "),
      paths: operands,
      catalogue,
      changes,
      read: (onProgress) => readRecordings(operands, { counter, excerpts, catalogue, onProgress }),
    });
  }
  // Files need no ledger, and it takes longer to load than most files to read.
  const [{ readLedger }, { needSession, useLedger }] = await Promise.all([
    import("../replay/ledger/read-ledger.ts"),
    import("./use-ledger.ts"),
  ]);
  return useLedger(input, io, async (store, place) => {
    const { name } = place;
    const only = wished === undefined ? null : [await needSession(store.ledger, wished, place)];
    const reading = { name, catalogue, counter, excerpts };
    return work({
      from: wished === undefined ? name : `session ${wished} in ${name}`,
      paths: null,
      catalogue,
      changes,
      read: () => readLedger(store, reading, only ?? undefined),
    });
  });
}

function bothGiven(): StrataError {
  return new StrataError(
    "usage",
    "--session and --store read the ledger, and there are files too",
    "name files, or a session or store",
  );
}

function nothingGiven(): StrataError {
  return new StrataError(
    "usage",
    "there is nothing to read",
    "name a file or folder, or a session of the ledger with --session ID, or all with --store WHERE",
  );
}
