// What trials of `strata smoke --lifetimes` showed, as the ledger has them: the latest for each model.
import type { Environment } from "../../core/config/environment.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import type { Usage } from "../../core/message/usage.ts";
import { trialAgent } from "../../core/session/session-state.ts";
import { afterName, judgeLifetimes } from "../smoke/lifetimes-verdict.ts";
import type { Finding } from "./check-store.ts";

/** None if there was no trial, or the ledger cannot be read, which its own check reports. Changes nothing. */
export async function checkLifetimes(env: Environment): Promise<readonly Finding[]> {
  try {
    const { atLedgerPlace } = await import("../../host/ledger/ledger-place.ts");
    return await atLedgerPlace({ env, store: undefined }, ({ where }) => readTrials(where));
  } catch {
    return [];
  }
}

/** A ledger of an older schema is left as it is: it may have to be opened by an older program. */
async function readTrials(where: string): Promise<readonly Finding[]> {
  const { openUnmigrated } = await import("../../edge/stores/open-store.ts");
  const { readSchema } = await import("../../edge/stores/sql/migrate.ts");
  const { migrations } = await import("../../edge/stores/sql/migrations.ts");
  const { createLedger } = await import("../../edge/stores/ledger/create-ledger.ts");
  const database = await openUnmigrated(where);
  if (database === null) return [];
  try {
    if ((await readSchema(database)) !== migrations.at(-1)?.number) return [];
    const ledger = await createLedger(database);
    const sessions = await ledger.listSessions({ agent: trialAgent, limit: 200 });
    const trials = sessions.filter(({ id }) => sessions.some((each) => each.id === afterName(id)));
    const latest = new Map<string, SessionRecord>();
    for (const trial of trials.toSorted((left, right) => left.createdMs - right.createdMs)) {
      latest.set(`${trial.provider}/${trial.model}`, trial);
    }
    return await Promise.all([...latest].map(([name, trial]) => toFinding(name, trial, ledger)));
  } finally {
    await database.close();
  }
}

async function toFinding(name: string, trial: SessionRecord, ledger: Ledger): Promise<Finding> {
  const usages = [
    ...(await usagesOf(trial.id, ledger)),
    ...(await usagesOf(afterName(trial.id), ledger)),
  ];
  const { step, head } = judgeLifetimes(usages);
  const day = new Date(trial.createdMs).toISOString().slice(0, 10);
  const detail = `${name}, tested ${day}: a long part at the end keeps the whole prefix: ${step}; an expired head after a marker on it: ${head}`;
  return { name: "lifetimes", state: "ok", detail };
}

async function usagesOf(sessionId: string, ledger: Ledger): Promise<readonly (Usage | null)[]> {
  const usages: (Usage | null)[] = [];
  for await (const { id } of ledger.readTurns({ sessionId })) {
    for (const { usage } of await ledger.readCalls(id)) usages.push(usage);
  }
  return usages;
}
