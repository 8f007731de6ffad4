// Converts shared SQL to PostgreSQL's: numbered placeholders, and text in byte order.

/** Matches quoted text first, so that placeholders and keywords inside it are skipped. */
const quoted = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*/.source;
const places = new RegExp(`${quoted}|\\?`, "g");
const textTypes = new RegExp(`${quoted}|\\bTEXT\\b(?!\\s+COLLATE)`, "g");
const landmarks = new RegExp(`${quoted}|[()]|\\bWHERE\\b`, "gi");

/** `?` → `$1`, `$2` and so on, or from a later number on. */
export function numberPlaces(sql: string, first = 1): string {
  let next = first;
  return sql.replace(places, (found) => {
    if (found !== "?") return found;
    next += 1;
    return `$${next - 1}`;
  });
}

/**
 * Compares columns of type TEXT (in capitals) byte by byte, like SQLite. The order of ids must not depend on
 * the server's locale, and an index must survive an update of the locales.
 */
export function withByteOrder(sql: string): string {
  if (!/^\s*(?:CREATE|ALTER)\s+TABLE\b/i.test(sql)) return sql;
  return sql.replace(textTypes, (found) => (found === "TEXT" ? `${found} COLLATE "C"` : found));
}

export interface SplitSql {
  readonly head: string;
  readonly condition: string;
}

/** Splits a statement at its own WHERE. Null if it has none. */
export function splitWhere(sql: string): SplitSql | null {
  let depth = 0;
  for (const { 0: found, index } of sql.matchAll(landmarks)) {
    if (found === "(") depth += 1;
    else if (found === ")") depth -= 1;
    else if (depth === 0 && /^WHERE$/i.test(found)) {
      return { head: sql.slice(0, index).trimEnd(), condition: sql.slice(index + 5).trim() };
    }
  }
  return null;
}

/** Whether it is safe to run twice. */
export function isRead(sql: string): boolean {
  if (/^\s*SELECT\b/i.test(sql)) return true;
  return /^\s*WITH\b/i.test(sql) && !/\b(?:INSERT|UPDATE|DELETE|MERGE)\b/i.test(sql);
}
