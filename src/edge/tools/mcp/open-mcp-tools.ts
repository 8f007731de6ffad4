// The tools of all configured MCP servers: sorted, their schemas frozen, late ones for the sessions that begin later.
import type { ScopedTool } from "../scoped-tool.ts";
import type { McpSdk, McpServerPlace } from "./connect-server.ts";
import { openMcpServer, type McpServer } from "./mcp-server.ts";
import { toScopedTool } from "./remote-tool.ts";

export interface McpServerSettings extends McpServerPlace {
  /** Its only tools that are used; null for all. */
  readonly tools: readonly string[] | null;
  readonly isTrusted: boolean;
  readonly timeoutMs: number;
}

export interface McpTools {
  /** Every server was tried once. */
  readonly tried: Promise<void>;
  /** The same list until a server's tools change. */
  list(): readonly ScopedTool[];
  close(): Promise<void>;
}

export interface McpToolsOf {
  /** Called if there is a server. */
  readonly loadSdk: () => Promise<McpSdk>;
  readonly onNotice: (notice: string) => void;
}

/** Of one server: they are part of every prompt. `tools` chooses others. */
const toolsMax = 100;

/** Throws only if the library cannot be loaded. A server that is not there is a notice, and is tried again. */
export async function openMcpTools(
  settings: ReadonlyMap<string, McpServerSettings>,
  { loadSdk, onNotice }: McpToolsOf,
): Promise<McpTools> {
  if (settings.size === 0) {
    return { tried: Promise.resolve(), list: () => none, close: () => Promise.resolve() };
  }
  const sdk = await loadSdk();
  let made: readonly ScopedTool[] | null = null;
  const said = new Set<string>();
  const noticeOnce = (notice: string): void => {
    if (said.has(notice)) return;
    said.add(notice);
    onNotice(notice);
  };
  const onTools = (): void => {
    made = null;
  };
  const servers = [...settings].map(([name, own]) => ({
    name,
    own,
    server: openMcpServer(sdk, { ...own, name, onTools, onNotice }),
  }));
  return {
    tried: Promise.all(servers.map(({ server }) => server.tried)).then(() => undefined),
    list: () => (made ??= servers.flatMap((each) => toolsOf(each, noticeOnce))),
    close: async () => {
      await Promise.all(servers.map(({ server }) => server.close()));
    },
  };
}

const none: readonly ScopedTool[] = [];

interface NamedServer {
  readonly name: string;
  readonly own: McpServerSettings;
  readonly server: McpServer;
}

function toolsOf(
  { name, own, server }: NamedServer,
  onNotice: (notice: string) => void,
): readonly ScopedTool[] {
  const { tools: wanted, isTrusted, timeoutMs } = own;
  const offered = server.tools();
  const missing = (wanted ?? []).filter((each) => !offered.some((tool) => tool.name === each));
  if (offered.length > 0 && missing.length > 0) {
    onNotice(`the MCP server ${name} has no tool ${missing.join(", ")}`);
  }
  const chosen = offered.filter((tool) => wanted?.includes(tool.name) ?? true);
  const left = Math.max(0, chosen.length - toolsMax);
  if (left > 0) {
    onNotice(
      `the MCP server ${name} has ${left} tools too many: choose up to ${toolsMax} with mcp.${name}.tools`,
    );
  }
  const byName = new Map<string, ScopedTool>();
  const cut = new Map<string, readonly string[]>();
  for (const remote of chosen.slice(0, toolsMax)) {
    const made = toScopedTool(remote, { server, serverName: name, isTrusted, timeoutMs });
    byName.set(made.tool.definition.name, made.tool);
    if (made.left.length > 0) cut.set(remote.name, made.left);
  }
  if (cut.size > 0) {
    const words = [...new Set([...cut.values()].flat())].toSorted().join(", ");
    onNotice(
      `${cut.size} tools of the MCP server ${name} say more than providers take (${words}): the server checks it`,
    );
  }
  return [...byName.values()].toSorted((one, other) =>
    one.definition.name < other.definition.name ? -1 : 1,
  );
}
