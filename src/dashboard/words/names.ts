// What a session is called: as its program calls it, and where that is an id, by the program and the beginning of the id.

interface Named {
  readonly session: string | null;
  readonly agent: string | null;
  readonly client_session?: string | null;
  readonly parent_session?: string | null;
}

const isId = /^[0-9a-f]{8}-?[0-9a-f-]{8,}$/i;

/** `refactor-billing`, or `claude-code c703704c`. */
export function nameSession(named: Named): string {
  const { session, agent, client_session: own = null, parent_session: parent = null } = named;
  // A sub-agent has its program's name for the whole session.
  if (own !== null && own !== "" && !isId.test(own)) {
    return parent === null ? own : `${own}, sub-agent ${session?.slice(0, 8) ?? ""}`.trimEnd();
  }
  if (session === null) return "deleted";
  return isId.test(session) ? `${agent ?? "session"} ${session.slice(0, 8)}` : session;
}

/** `sub-agent 42175b90`, `title 1c3f…`. */
export function nameChild({
  kind,
  session,
}: {
  readonly kind: string;
  readonly session: string;
}): string {
  const what = kind === "worker" ? "sub-agent" : kind;
  return isId.test(session) ? `${what} ${session.slice(0, 8)}` : session;
}
