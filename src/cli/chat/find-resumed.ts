// Which session `--resume` means: one by its name, or the latest.
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import { openStore } from "../../edge/stores/open-store.ts";
import { needSession } from "../need-session.ts";
import { nameOf, refuseMissing, type Place } from "../use-ledger.ts";
import { findSessionId } from "./name-session.ts";

export interface Resumed extends Pick<SessionRecord, "id" | "agent" | "workspacePath"> {
  /** Whether its folder still is. */
  readonly isThere: boolean;
}

/** `latest`: of this folder where there is one, else of all. Sub-agents are not meant. */
export async function findResumed(
  where: string,
  wanted: string,
  workspace: string = process.cwd(),
): Promise<Resumed> {
  const place: Place = {
    where,
    name: nameOf(where),
    origin: "--store, STRATA_STORE or the default",
  };
  const store = await openStore(where);
  if (store === null) return refuseMissing(place);
  try {
    const { ledger } = store;
    if (wanted !== "latest") {
      const id = await findSessionId(ledger, wanted);
      return await withFolder(await needSession(ledger, id, place));
    }
    const all = await ledger.listSessions({ limit: 500 });
    const own = all.filter(({ parent }) => parent === null);
    const here = own.find(({ workspacePath }) => workspacePath === resolve(workspace));
    const found = here ?? own[0];
    return found === undefined ? refuseMissing(place) : await withFolder(found);
  } finally {
    await store.ledger.close();
  }
}

async function withFolder({ id, agent, workspacePath }: SessionRecord): Promise<Resumed> {
  const stats = workspacePath === null ? null : await stat(workspacePath).catch(() => null);
  return { id, agent, workspacePath, isThere: stats?.isDirectory() === true };
}
