// A new session, with a name of its own where the caller gives none.
import { randomUUID } from "node:crypto";
import { toSession } from "../../core/session/to-session.ts";
import type { Session, SessionSetup } from "../../core/session/session.ts";

/** Nothing is recorded until its first turn. */
export function openSession(setup: SessionSetup): Session {
  return toSession({ ...setup, id: setup.id ?? randomUUID() });
}
