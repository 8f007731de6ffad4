// strata mcp: Strata's figures, old history and memory as tools of an MCP server.
import { StrataError } from "../../core/strata-error.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { createClient } from "../../api/client/open-client.ts";
import { createLedgerClient } from "../../api/reader/ledger-client.ts";
import { openMemoryStore } from "../../edge/files/memory/memory-store.ts";
import { openScope } from "../../edge/files/guard/scoped-files.ts";
import { createDispatcher } from "../../edge/tools/dispatch/dispatcher.ts";
import { memoryTools } from "../../edge/tools/memory/memory-tools.ts";
import { readConfiguredChanges } from "../../host/config/catalogue.ts";
import type { CommandBody, CommandInput, Io } from "../command.ts";
import { atWorkspace } from "../memory/memory-open.ts";
import { toPrintable } from "../ledger/render-ledger.ts";
import { toServerUrl } from "../stats/ask-server.ts";
import { atPlace, createOnProblem } from "../use-ledger.ts";
import { figureTools } from "./figure-tools.ts";
import { openSessionHistory } from "./session-history.ts";
import { memoryReadTool } from "./memory-read-tool.ts";
import { serveTools } from "./serve-tools.ts";

/** Serves until the client closes its end. Standard output is the protocol's. */
export const run: CommandBody = async (input, io) => {
  const memory = await openMemory(input);
  const url = input.values.get("url");
  if (url !== undefined) {
    refuseLocal(input);
    const token = io.env["STRATA_GATEWAY_TOKEN"]?.trim() ?? "";
    const client = createClient({
      url: toServerUrl(url),
      ...(token === "" ? {} : { token }),
    });
    return serve([...figureTools(client), ...memory.tools], memory, io);
  }
  return atPlace(input, io, async ({ where, name }) => {
    const onProblem = (problem: string): void =>
      io.error(`strata: warning: ${toPrintable(problem)}\n`);
    const models = await readConfiguredChanges(io.env, onProblem);
    const client = createLedgerClient({ store: where, models });
    const history = openSessionHistory({ where, name, client });
    try {
      return await serve([...figureTools(client), ...history.tools, ...memory.tools], memory, io);
    } finally {
      await history.close();
      await client.close();
    }
  });
};

interface OpenedMemory {
  readonly tools: readonly Tool[];
  readonly workspace: Awaited<ReturnType<typeof openScope>> | undefined;
}

async function openMemory(input: CommandInput): Promise<OpenedMemory> {
  if (!input.switches.has("memory")) {
    if (!input.values.has("workspace")) return { tools: [], workspace: undefined };
    throw usage("--workspace is for memory", "add --memory, or leave it out");
  }
  let opened: OpenedMemory | undefined;
  await atWorkspace(input, async (path) => {
    const [workspace, memory] = [await openScope(path), await openMemoryStore(path)];
    opened = { tools: [memoryReadTool(memory), ...memoryTools(memory)], workspace };
    return 0;
  });
  return opened ?? { tools: [], workspace: undefined };
}

async function serve(tools: readonly Tool[], { workspace }: OpenedMemory, io: Io): Promise<number> {
  const dispatcher = createDispatcher({
    tools,
    onProblem: createOnProblem(io),
    ...(workspace === undefined ? {} : { workspace }),
  });
  await serveTools({ tools, dispatcher, onProblem: createOnProblem(io) });
  return 0;
}

function refuseLocal({ values }: CommandInput): void {
  const other = ["store", "config"].find((each) => values.has(each));
  if (other === undefined) return;
  throw usage(`--${other} is about a ledger here, and --url asks a server`, "give one of them");
}

function usage(message: string, hint: string): StrataError {
  return new StrataError("usage", message, `${hint}; see: strata mcp --help`);
}
