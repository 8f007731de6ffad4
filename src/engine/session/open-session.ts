// Opens a new session, with a random id by default.
import { randomUUID } from "node:crypto";
import { toSession } from "../../core/session/to-session.ts";
import type { Session, SessionSetup } from "../../core/session/session.ts";

/** The session is recorded with its first turn. */
export function openSession(setup: SessionSetup): Session {
  return toSession({ ...setup, id: setup.id ?? randomUUID() });
}
