// The role of a session: it always decides the tools; the prompt names it only if the caller asked for a role.
import { roleRulesName } from "../layers/to-sections.ts";
import type { AgentRole } from "../message/assembled-context.ts";
import type { Session } from "./session.ts";

/** The role of a session without one: it has the tools of every role but a worker's limits. */
export const usualRole: AgentRole = "unified";

/** The role that was asked for; undefined for none. A session keeps what it was opened with. */
export function askedRoleOf({
  role,
  madeOf,
}: Pick<Session, "role" | "madeOf">): AgentRole | undefined {
  const isAsked = role !== usualRole || madeOf.some(({ name }) => name === roleRulesName);
  return isAsked ? role : undefined;
}
