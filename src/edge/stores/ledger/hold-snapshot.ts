// A snapshot that stays open until its reader ends it.
import type { Database } from "../sql/database.ts";

export interface HeldSnapshot {
  readonly query: Database["query"];
  readonly end: () => Promise<void>;
}

export function holdSnapshot(database: Database): Promise<HeldSnapshot> {
  const { promise: ended, resolve: end } = Promise.withResolvers<null>();
  return new Promise((resolve, reject) => {
    const done = database.snapshot(({ query }) => {
      resolve({
        query,
        end: async () => {
          end(null);
          await done;
        },
      });
      return ended;
    });
    done.catch(reject);
  });
}
