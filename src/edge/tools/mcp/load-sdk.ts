// The official client library, which is installed only where MCP servers are used.
import { loadOptional } from "../../providers/load-optional.ts";
import type * as Library from "@modelcontextprotocol/client";
import type * as Stdio from "@modelcontextprotocol/client/stdio";

export interface McpSdk {
  readonly client: typeof Library;
  readonly stdio: typeof Stdio;
}

export function loadMcpSdk(): Promise<McpSdk> {
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
