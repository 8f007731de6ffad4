// Sessions as a person names them: a made id by its first letters, as long as no other begins with them.
import type { Ledger } from "../../core/ledger/ledger.ts";
import { StrataError } from "../../core/strata-error.ts";

const made = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const lettersMin = 4;

/** A made id is shortened, a given name is not. */
export function shortName(id: string): string {
  return made.test(id) ? id.slice(0, 8) : id;
}

/** The id that is meant; what nobody has is given back as it is. */
export async function findSessionId(
  ledger: Pick<Ledger, "findSession" | "listSessions">,
  typed: string,
): Promise<string> {
  if (typed.length < lettersMin || (await ledger.findSession(typed)) !== null) return typed;
  const latest = await ledger.listSessions({ limit: 500 });
  const [found, ...others] = latest.filter(({ id }) => made.test(id) && id.startsWith(typed));
  if (found === undefined) return typed;
  if (others.length === 0) return found.id;
  const ids = [found, ...others].map(({ id }) => id);
  throw new StrataError(
    "input-invalid",
    `several sessions begin with ${typed}`,
    `say more of it: ${ids.slice(0, 3).join(", ")}`,
  );
}
