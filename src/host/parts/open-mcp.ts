// The MCP servers of strata.yaml, opened once for all sessions of a host.
import type { Environment } from "../../core/config/environment.ts";
import type { McpConfig, McpServerConfig } from "../../core/config/schema/mcp.ts";
import { StrataError } from "../../core/strata-error.ts";
import { loadOptional } from "../../edge/providers/load-optional.ts";
import type { McpSdk } from "../../edge/tools/mcp/connect-server.ts";
import type { ScopedTool } from "../../edge/tools/scoped-tool.ts";
import {
  openMcpTools,
  type McpServerSettings,
  type McpTools,
} from "../../edge/tools/mcp/open-mcp-tools.ts";

export interface McpParts {
  /** Opens the servers with the first session, and waits until each was tried; those of a later configuration wait for the next start. */
  open(): Promise<void>;
  /** The same list until a server's tools change. */
  list(): readonly ScopedTool[];
  close(): Promise<void>;
}

const none: readonly ScopedTool[] = [];

export function createMcpParts(
  config: () => McpConfig,
  env: Environment,
  onNotice: (notice: string) => void,
): McpParts {
  let opened: Promise<McpTools> | null = null;
  let current: McpTools | null = null;
  const openAll = async (): Promise<McpTools> => {
    const settings = [...config()].map(([name, server]): [string, McpServerSettings] => [
      name,
      toSettings(name, server, env),
    ]);
    current = await openMcpTools(new Map(settings), { loadSdk, onNotice });
    return current;
  };
  return {
    open: async () => {
      opened ??= openAll().catch((error: unknown) => {
        opened = null;
        throw error;
      });
      await (
        await opened
      ).tried;
    },
    list: () => current?.list() ?? none,
    close: async () => {
      const open = await opened?.catch(() => null);
      await open?.close();
    },
  };
}

function toSettings(name: string, server: McpServerConfig, env: Environment): McpServerSettings {
  const { command, url, folder, tools, isTrusted, connectMs, timeoutMs } = server;
  const shared = { tools, isTrusted, connectMs, timeoutMs };
  if (command !== null) {
    const passed = server.passEnv.map((each): [string, string] => [each, need(name, each, env)]);
    const own = Object.fromEntries([...passed, ...server.env]);
    return { ...shared, reach: { kind: "program", command, args: server.args, env: own, folder } };
  }
  const { tokenEnv } = server;
  const token = tokenEnv === null ? {} : { authorization: `Bearer ${need(name, tokenEnv, env)}` };
  const headers = { ...token, ...Object.fromEntries(server.headers) };
  return { ...shared, reach: { kind: "address", url: url ?? "", headers } };
}

function need(server: string, variable: string, env: Environment): string {
  const found = env[variable];
  if (found !== undefined && found !== "") return found;
  throw new StrataError(
    "config-invalid",
    `the MCP server ${server} needs the variable ${variable}, which is not set`,
    `set it, or correct mcp.${server}`,
  );
}

function loadSdk(): Promise<McpSdk> {
  return loadOptional(importSdk, {
    names: ["@modelcontextprotocol/client"],
    purpose: "tools of MCP servers come through the library of the Model Context Protocol",
    otherwise: "remove the section mcp from strata.yaml",
  });
}

async function importSdk(): Promise<McpSdk> {
  return {
    client: await import("@modelcontextprotocol/client"),
    stdio: await import("@modelcontextprotocol/client/stdio"),
  };
}
