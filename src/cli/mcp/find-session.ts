// The session that a client means: the latest one, ours by name, or the client's own name for it.
import type { ApiClient, ApiResult } from "../../api/client/open-client.ts";
import { ToolError } from "../../core/tools/tool.ts";

/** The input of a tool that is about one session. */
export const sessionSchema = {
  type: "string",
  description: "Its name, or the client's own id; default: the latest.",
} as const;

/** An answer, or a `ToolError` that says what to do. */
export async function answerOf<Answer>(asked: Promise<ApiResult<Answer>>): Promise<Answer> {
  const result = await asked;
  if (result.kind === "answer") return result.answer;
  const { message, hint } = result.error;
  throw new ToolError("execution_error", hint === "" ? message : `${message}: ${hint}`);
}

export interface FoundSession {
  readonly session: string;
  readonly origin: "engine" | "gateway";
}

/** All that the ledger has: people come back to a session after a year. */
const from = "1970-01-01";

/** `origin`: which sessions may be the latest; a named one may be of any. */
export async function findSession(
  client: ApiClient,
  wanted: unknown,
  origin: "all" | "engine" = "all",
): Promise<FoundSession> {
  const name = typeof wanted === "string" ? wanted : "";
  const query = name === "" ? { from, origin, limit: 50 } : { from, search: name, limit: 100 };
  const { data } = await answerOf(client.ask("session_list", { query }));
  const main = data.filter((each) => each.parent_session === null && !asides.has(each.kind));
  const found =
    name === ""
      ? (main[0] ?? data[0])
      : (data.find(({ session }) => session === name) ??
        main.find((each) => each.client_session === name));
  if (found !== undefined) return found;
  if (name === "") throw new ToolError("not_found", "nothing is recorded yet: no session was run");
  const latest = await answerOf(client.ask("session_list", { query: { from, limit: 5 } }));
  const known = latest.data.map(({ session }) => session).join(", ");
  const others = known === "" ? "nothing is recorded yet" : `the latest are ${known}`;
  throw new ToolError("not_found", `there is no session ${name.slice(0, 80)}; ${others}`);
}

/** What a program asks beside its conversation. */
const asides: ReadonlySet<string> = new Set(["title", "summary", "single"]);
