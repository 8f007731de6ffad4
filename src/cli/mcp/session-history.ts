// history_search and history_read for an MCP client: the tools of a session, about any session of the ledger.
import type { ApiClient } from "../../api/client/open-client.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import { fieldsIn, parseFields } from "../../core/message/fields.ts";
import { ToolError, type Tool } from "../../core/tools/tool.ts";
import { openStore } from "../../edge/stores/open-store.ts";
import { historyTools, type HistoryToolsOptions } from "../../edge/tools/history-tools.ts";
import { findSession, sessionSchema } from "./find-session.ts";

export interface SessionHistory {
  readonly tools: readonly Tool[];
  close(): Promise<void>;
}

export interface HistoryPlace {
  /** A path or a connection string. */
  readonly where: string;
  /** For people. */
  readonly name: string;
  readonly client: ApiClient;
}

/** The ledger is opened when a tool first needs it. */
export function openSessionHistory({ where, name, client }: HistoryPlace): SessionHistory {
  let opened: Promise<Ledger> | null = null;
  const ledger = (): Promise<Ledger> => {
    opened ??= open(where, name).catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
  const late: HistoryToolsOptions["ledger"] = {
    searchHistory: async (question) => (await ledger()).searchHistory(question),
    readHistory: async (range) => (await ledger()).readHistory(range),
    findToolResult: async (sessionId, use) => (await ledger()).findToolResult(sessionId, use),
  };
  return {
    tools: historyTools({ ledger: late }).map((tool) => ofAnySession(tool, client)),
    close: async () => (await opened?.catch(() => null))?.close(),
  };
}

async function open(where: string, name: string): Promise<Ledger> {
  const store = await openStore(where);
  if (store !== null) return store.ledger;
  throw new ToolError("not_found", `there is no ledger in ${name} yet: no session was recorded`);
}

function ofAnySession(tool: Tool, client: ApiClient): Tool {
  const { definition } = tool;
  const schema = parseFields(definition.inputSchemaJson) ?? {};
  const properties = { session: sessionSchema, ...fieldsIn(schema, "properties") };
  return {
    ...tool,
    definition: {
      ...definition,
      description: descriptions[definition.name] ?? definition.description,
      inputSchemaJson: JSON.stringify({ ...schema, properties }),
    },
    run: async ({ session: wanted, ...input }, call) => {
      const { session, origin } = await findSession(client, wanted, "engine");
      if (origin === "engine") return tool.run(input, { ...call, sessionId: session });
      throw new ToolError(
        "not_found",
        `${session} is a conversation that the gateway saw: its bills are kept, its words are not`,
      );
    },
  };
}

/** They say "this conversation" to a model within a session; a client is outside. */
const descriptions: Readonly<Record<string, string>> = {
  history_search:
    "Finds passages of a Strata session that were compacted: what was said, tools that were used and what they answered.",
  history_read:
    "Reads turns of a Strata session as they were: one `turn`, `from` one `through` another, or the result of one tool use.",
};
