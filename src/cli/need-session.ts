// Finds a session by its name, or throws an error with similar names.
import type { Ledger } from "../core/ledger/ledger.ts";
import type { SessionRecord } from "../core/ledger/session-record.ts";
import { didYouMean } from "../core/nearest-names.ts";
import { StrataError } from "../core/strata-error.ts";
import type { LedgerPlace } from "../host/ledger/ledger-place.ts";

export async function needSession(
  ledger: Ledger,
  id: string,
  { name, origin }: LedgerPlace,
): Promise<SessionRecord> {
  const found = await ledger.findSession(id);
  if (found !== null) return found;
  const latest = await ledger.listSessions({ status: "all", limit: 500 });
  const known = latest.map((session) => session.id);
  const suggestion = didYouMean(id, known, "see: strata sessions --all");
  const hint = `${suggestion} (the ledger was chosen by ${origin})`;
  throw new StrataError("not-found", `there is no session ${id} in ${name}`, hint);
}
