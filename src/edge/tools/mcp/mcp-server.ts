// An MCP server over its life: connected, lost, connected again. Its tools stay known while it is away.
import type { CallToolResult, Tool as RemoteTool } from "@modelcontextprotocol/client";
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../../core/strata-error.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import {
  connectServer,
  type McpSdk,
  type McpServerPlace,
  type ServerConnection,
} from "./connect-server.ts";

export interface McpServerOptions extends McpServerPlace {
  readonly name: string;
  readonly timeoutMs: number;
  /** Called when its list of tools is another one. */
  readonly onTools: () => void;
  readonly onNotice: (notice: string) => void;
}

export interface McpServer {
  /** As last listed; empty until it was there. */
  tools(): readonly RemoteTool[];
  /** Resolves when it was tried once. */
  readonly tried: Promise<void>;
  /** Throws a `ToolError` if it does not answer, or not as the protocol says. */
  use(name: string, input: object, signal: AbortSignal): Promise<CallToolResult>;
  close(): Promise<void>;
}

const firstWaitMs = 1000;
const longestWaitMs = 60_000;

export function openMcpServer(sdk: McpSdk, options: McpServerOptions): McpServer {
  const { name, timeoutMs, onTools, onNotice } = options;
  let known: readonly RemoteTool[] = [];
  let connection: Promise<ServerConnection> | null = null;
  let isClosed = false;
  let retry: NodeJS.Timeout | null = null;
  let waitMs = firstWaitMs;
  const take = (tools: readonly RemoteTool[]): void => {
    if (isDeepStrictEqual(tools, known)) return;
    known = tools;
    onTools();
  };
  const connect = (): Promise<ServerConnection> => {
    const lost = (): void => {
      if (connection === connecting) connection = null;
    };
    const connecting = connectServer(sdk, options, { onTools: take, onClosed: lost }).then(
      (made) => {
        waitMs = firstWaitMs;
        take(made.tools);
        return made;
      },
      (error: unknown) => {
        lost();
        throw error;
      },
    );
    connection = connecting;
    return connecting;
  };
  /** One that was not there when a session began may come later. */
  const tryAgain = (error: unknown): void => {
    if (isClosed) return;
    if (waitMs === firstWaitMs) {
      onNotice(`the MCP server ${name} is not there: ${messageOf(error)}; it is tried again`);
    }
    retry = setTimeout(() => void (connection ?? connect()).catch(tryAgain), waitMs).unref();
    waitMs = Math.min(waitMs * 2, longestWaitMs);
  };
  const tried = connect().then(() => undefined, tryAgain);
  return {
    tools: () => known,
    tried,
    use: async (tool, input, signal) => {
      if (isClosed) throw new ToolError("execution_error", `the MCP server ${name} is closed`);
      const { client } = await (connection ?? connect()).catch((error: unknown) => {
        const message = `the MCP server ${name} is not there: ${messageOf(error)}`;
        throw new ToolError("execution_error", message, { cause: error });
      });
      const limits = { signal, timeout: timeoutMs, maxTotalTimeout: timeoutMs };
      try {
        // Not by callTool, which refuses text where a tool promised structure: the model can read it.
        const params = { name: tool, arguments: { ...input } };
        return await client.request({ method: "tools/call", params }, limits);
      } catch (error) {
        throw toToolError(name, error, timeoutMs);
      }
    },
    close: async () => {
      isClosed = true;
      if (retry !== null) clearTimeout(retry);
      const open = await connection?.catch(() => null);
      await open?.close();
    },
  };
}

function toToolError(server: string, error: unknown, timeoutMs: number): ToolError {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "REQUEST_TIMEOUT") {
    const message = `the MCP server ${server} did not answer within ${timeoutMs / 1000} s`;
    return new ToolError("timeout", message, { cause: error });
  }
  const why = messageOf(error).slice(0, 2000);
  return new ToolError("execution_error", `the MCP server ${server}: ${why}`, { cause: error });
}
