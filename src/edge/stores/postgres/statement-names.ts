// Chooses which statements the server keeps prepared: repeated ones, most recently used.
import { hashContent } from "../../../core/hash.ts";

/** How many statements have a name at a time. */
export const namesMax = 200;
const seenMax = 2000;

/** A statement's name, always the same. Undefined for its first use. */
export function createStatementNames(
  limit: number = namesMax,
): (sql: string) => string | undefined {
  /** The least recently used comes first. */
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
