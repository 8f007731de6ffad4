// Intentional faults between the ledger and its database: the torture must report each of them.
import { setTimeout as wait } from "node:timers/promises";
import type { Commit, Database, Write } from "../../src/edge/stores/sql/database.ts";

export const plantedFaults = ["no fencing", "two transactions"] as const;

export type PlantedFault = (typeof plantedFaults)[number];

export function plantFault(database: Database, fault: PlantedFault | null): Database {
  if (fault === null) return database;
  return {
    ...database,
    commit: (commit) => {
      if (!isCompaction(commit)) return database.commit(commit);
      return fault === "no fencing"
        ? database.commit({
            ...commit,
            guards: commit.guards.filter(({ name }) => name !== "lock"),
          })
        : commitInTwo(database, commit);
    },
  };
}

function isCompaction({ writes }: Commit): boolean {
  return writes.some((write) => into(write) === "compactions_v1");
}

/** Commits the compaction first and its messages second. */
async function commitInTwo(database: Database, commit: Commit): ReturnType<Database["commit"]> {
  const { writes } = commit;
  const result = await database.commit({
    ...commit,
    writes: writes.filter((each) => !isSaid(each)),
  });
  if (result.kind !== "done") return result;
  await wait(200);
  return database.commit({ guards: [], writes: writes.filter(isSaid) });
}

function isSaid(write: Write): boolean {
  return into(write) === "messages" || into(write) === "contents";
}

function into(write: Write): string | null {
  return "into" in write ? write.into : null;
}
