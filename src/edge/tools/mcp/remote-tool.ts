// A remote tool as one of ours: a name and a schema that every provider takes, and its result as text.
import type { CallToolResult, Tool as RemoteTool } from "@modelcontextprotocol/client";
import { hashContent } from "../../../core/hash.ts";
import { toToolDefinition } from "../../../core/message/tool-definition.ts";
import { countBytes } from "../../../core/layers/cut-middle.ts";
import type { ToolOutput } from "../../../core/tools/tool.ts";
import type { ScopedTool } from "../scoped-tool.ts";
import { lowerSchema } from "./lower-schema.ts";
import type { McpServer } from "./mcp-server.ts";

export interface RemoteToolOf {
  readonly server: McpServer;
  readonly serverName: string;
  /** Its word that a tool only reads is taken. */
  readonly isTrusted: boolean;
  readonly timeoutMs: number;
}

export interface MadeTool {
  readonly tool: ScopedTool;
  /** What its schema says beyond what providers take. */
  readonly left: readonly string[];
}

/** A permission that is granted by name: `mcp.NAME`. */
export function mcpPermission(serverName: string): string {
  return `mcp.${serverName}`;
}

const descriptionCharactersMax = 2000;

export function toScopedTool(remote: RemoteTool, of: RemoteToolOf): MadeTool {
  const { server, serverName, isTrusted, timeoutMs } = of;
  const { schema, left } = lowerSchema(remote.inputSchema);
  const said = remote.description?.trim() ?? "";
  const isLong = said.length > descriptionCharactersMax;
  const description = isLong ? `${said.slice(0, descriptionCharactersMax)}…` : said;
  const reads = isTrusted && remote.annotations?.readOnlyHint === true;
  const tool: ScopedTool = {
    definition: toToolDefinition({
      name: toToolName(serverName, remote.name),
      description: description === "" ? `${remote.name} of ${serverName}` : description,
      inputSchema: schema,
    }),
    needs: [mcpPermission(serverName)],
    sideEffects: reads ? "read" : "network",
    // Ours is the later one, so that the server's name is in the answer.
    timeoutMs: timeoutMs + 1000,
    run: async (input, { signal }) => toOutput(await server.use(remote.name, input, signal)),
  };
  return { tool, left: isLong ? [...left, "the end of its description"] : left };
}

/** `mcp__server__tool`, as clients name them that models know. A name that is too long, or has other letters, ends in its hash. */
export function toToolName(server: string, tool: string): string {
  const whole = `mcp__${server}__${tool}`;
  const plain = whole.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
  if (plain === whole && plain.length <= 64) return plain;
  return `${plain.slice(0, 55)}_${hashContent(whole).slice(-8)}`;
}

function toOutput({ content, structuredContent, isError }: CallToolResult): ToolOutput {
  const parts = content.map(toText);
  const hasText = parts.some((part) => part !== "");
  const text =
    hasText || structuredContent === undefined
      ? parts.join("\n")
      : JSON.stringify(structuredContent);
  return isError === true ? { text, isFailed: true } : { text };
}

type Content = CallToolResult["content"][number];

/** What is no text is named with its size, not dropped. */
function toText(part: Content): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return `[${part.type}, ${part.mimeType}, ${countBytes(part.data)} bytes of base64: not shown]`;
    case "resource_link":
      return `[resource ${part.name}: ${part.uri}]`;
    case "resource":
      return "text" in part.resource
        ? part.resource.text
        : `[resource ${part.resource.uri}, ${countBytes(part.resource.blob)} bytes of base64: not shown]`;
  }
}
