// Which statements the server keeps prepared: those that came again and were used last.
import { hashContent } from "../../../core/hash.ts";

/** So many have a name at a time. */
export const namesMax = 200;
const seenMax = 2000;

/** The name of a statement, always the same; undefined for one that came for the first time. */
export function createStatementNames(
  limit: number = namesMax,
): (sql: string) => string | undefined {
  /** The one that was used longest ago comes first. */
  const names = new Map<string, string>();
  let seen = new Set<string>();
  return (sql) => {
    const known = names.get(sql);
    if (known === undefined && !seen.delete(sql)) {
      if (seen.size >= seenMax) seen = new Set();
      seen.add(sql);
      return undefined;
    }
    const name = known ?? `strata_${hashContent(sql).slice(0, 32)}`;
    names.delete(sql);
    names.set(sql, name);
    const [oldest] = names.keys();
    if (names.size > limit && oldest !== undefined) names.delete(oldest);
    return name;
  };
}
