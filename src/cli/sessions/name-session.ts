// Short names of sessions: a generated id may be shortened to its first letters while they are unique.
import type { Ledger } from "../../core/ledger/ledger.ts";
import { StrataError } from "../../core/strata-error.ts";

const made = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const lettersMin = 4;

/** Short names for a list: an id is shortened only where the short one says which it is. */
export function shortNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const count = new Map<string, number>();
  for (const id of ids) count.set(shortName(id), (count.get(shortName(id)) ?? 0) + 1);
  return new Map(ids.map((id) => [id, count.get(shortName(id)) === 1 ? shortName(id) : id]));
}

/** Shortens a generated id, but not a name the user gave. */
export function shortName(id: string): string {
  return made.test(id) ? id.slice(0, 8) : id;
}

/** The full id for a short one; an unknown one is returned unchanged. */
export async function findSessionId(
  ledger: Pick<Ledger, "findSession" | "listSessions">,
  typed: string,
): Promise<string> {
  if (typed.length < lettersMin || (await ledger.findSession(typed)) !== null) return typed;
  const latest = await ledger.listSessions({ origin: "all", status: "all", limit: 500 });
  const [found, ...others] = latest.filter(({ id }) => made.test(id) && id.startsWith(typed));
  if (found === undefined) return typed;
  if (others.length === 0) return found.id;
  const ids = [found, ...others].map(({ id }) => id);
  throw new StrataError(
    "input-invalid",
    `several sessions begin with ${typed}`,
    `type more letters: ${ids.slice(0, 3).join(", ")}`,
  );
}
