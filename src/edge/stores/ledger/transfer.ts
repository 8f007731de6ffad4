// Export and import: a session with everything it needs, one JSON value per line. A round trip gives the same
// bytes.
import type { Ledger } from "../../../core/ledger/ledger.ts";
import { exportSession } from "./export-session.ts";
import { importSession } from "./import-session.ts";
import type { Store } from "./store.ts";

export function transferParts(store: Store): Pick<Ledger, "exportSession" | "importSession"> {
  return {
    exportSession: (id) => exportSession(store, id),
    importSession: (lines, as) => importSession(store, lines, as),
  };
}
