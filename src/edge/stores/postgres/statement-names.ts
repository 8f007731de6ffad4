// Which statements the server keeps prepared: those that come again, up to a number.
import { hashContent } from "../../../core/hash.ts";

/** Every connection keeps that many plans at most. */
const namesMax = 200;
const seenMax = 2000;

/** The name of a statement; undefined for one that came for the first time, and where there are enough names. */
export function createStatementNames(
  limit: number = namesMax,
): (sql: string) => string | undefined {
  const names = new Map<string, string>();
  let seen = new Set<string>();
  return (sql) => {
    const known = names.get(sql);
    if (known !== undefined || names.size >= limit) return known;
    if (!seen.delete(sql)) {
      if (seen.size >= seenMax) seen = new Set();
      seen.add(sql);
      return undefined;
    }
    const name = `strata_${hashContent(sql).slice(0, 32)}`;
    names.set(sql, name);
    return name;
  };
}
