// Finds the session for `--resume`: by its name, or the latest.
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Ledger } from "../../../core/ledger/ledger.ts";
import type { SessionRecord } from "../../../core/ledger/session-record.ts";
import { StrataError } from "../../../core/strata-error.ts";
import { closing, openStore } from "../../../edge/stores/open-store.ts";
import { findCallSettings } from "../../../engine/session/recorded-setup.ts";
import { needSession } from "../../need-session.ts";
import { simulationOf } from "../../../host/ledger/simulated-session.ts";
import { refuseMissing, type LedgerPlace } from "../../../host/ledger/ledger-place.ts";
import type { LedgerPlaces } from "../../../host/ledger/choose-ledger-place.ts";
import { findSessionId } from "./name-session.ts";

export interface Resumed extends Pick<SessionRecord, "id" | "agent"> {
  readonly place: LedgerPlace;
  /** The model of its next turn. */
  readonly model: string;
  /** Its folder; null if that was a temporary one, which is deleted. */
  readonly folder: string | null;
}

/** `latest`: the latest session of this folder, else of any folder; never a sub-agent. */
export async function findResumed(
  { place, other }: LedgerPlaces,
  wanted: string,
  given: string | undefined,
): Promise<Resumed> {
  const isLatest = wanted === "latest";
  for (const each of isLatest || other === null ? [place] : [place, other]) {
    const found = await useStore(each, async (ledger) => {
      const record = await findRecord(ledger, wanted, given);
      return record === null ? null : describe(ledger, record, each, given);
    });
    if (found !== null) return found;
  }
  if (!isLatest) await useStore(place, (ledger) => needSession(ledger, wanted, place));
  return refuseMissing(place);
}

/** Null if there is no store. */
async function useStore<Result>(
  { where }: LedgerPlace,
  work: (ledger: Ledger) => Promise<Result>,
): Promise<Result | null> {
  const store = await openStore(where);
  return store === null ? null : closing(store.ledger, () => work(store.ledger));
}

async function findRecord(
  ledger: Ledger,
  wanted: string,
  given: string = process.cwd(),
): Promise<SessionRecord | null> {
  if (wanted !== "latest") return ledger.findSession(await findSessionId(ledger, wanted));
  const all = await ledger.listSessions({ limit: 500 });
  const own = all.filter(({ parent }) => parent === null);
  return own.find(({ workspacePath }) => workspacePath === resolve(given)) ?? own[0] ?? null;
}

async function describe(
  ledger: Ledger,
  record: SessionRecord,
  place: LedgerPlace,
  given: string | undefined,
): Promise<Resumed> {
  const { id, agent } = record;
  const model = (await findCallSettings(ledger, record))?.model ?? record.model;
  const folder = given ?? (await findFolder(record));
  return { id, agent, place, model, folder };
}

/** A missing folder is an error: the session is about that folder. */
async function findFolder(record: SessionRecord): Promise<string | null> {
  const { id, workspacePath: path } = record;
  if (path === null) return null;
  const stats = await stat(path).catch(() => null);
  if (stats?.isDirectory() === true) return path;
  if (simulationOf(record)?.isTemporary === true) return null;
  throw new StrataError(
    "not-found",
    `the folder of session ${id} does not exist: ${path}`,
    "choose another folder with --workspace",
  );
}
