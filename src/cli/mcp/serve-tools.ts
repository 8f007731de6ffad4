// Tools as an MCP server on standard input and output: what is listed, and how a use is answered.
import { once } from "node:events";
import packageJson from "../../../package.json" with { type: "json" };
import { fieldsOf, parseFields } from "../../core/message/fields.ts";
import type { JsonText, Message } from "../../core/message/message.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { Dispatcher } from "../../edge/tools/dispatch/dispatcher.ts";
import { loadOptional } from "../../edge/providers/load-optional.ts";
import type * as Library from "@modelcontextprotocol/server";
import type * as Stdio from "@modelcontextprotocol/server/stdio";

export interface ServedTools {
  /** Listed in this order, with these bytes: they are part of every prompt of every client. */
  readonly tools: readonly Tool[];
  readonly dispatcher: Pick<Dispatcher, "runAll">;
  readonly onProblem: (problem: unknown) => void;
  /** The process's input and output by default. */
  readonly transport?: Library.Transport;
}

/** Ends when the client closes its end. */
export async function serveTools(served: ServedTools): Promise<void> {
  const sdk = await loadSdk();
  const over = once(process.stdin, "close");
  const { transport, onProblem } = served;
  const handle = sdk.stdio.serveStdio(() => createServer(sdk.server, served), {
    onerror: (error) => onProblem(passedOver(error)),
    ...(transport === undefined ? {} : { transport }),
  });
  await over;
  await handle.close();
}

/** A line that is no message is not answered: it has no id to answer to. */
function passedOver({ message }: Error): string {
  const why = message.replaceAll(/\s+/g, " ");
  return `a message of the client was passed over: ${why.slice(0, 160)}`;
}

type Sdk = typeof Library;

interface LoadedSdk {
  readonly server: Sdk;
  readonly stdio: typeof Stdio;
}

function loadSdk(): Promise<LoadedSdk> {
  return loadOptional(importSdk, {
    names: ["@modelcontextprotocol/server"],
    purpose: "strata mcp speaks through the library of the Model Context Protocol",
    otherwise: "ask the same with strata stats and strata explain",
  });
}

async function importSdk(): Promise<LoadedSdk> {
  return {
    server: await import("@modelcontextprotocol/server"),
    stdio: await import("@modelcontextprotocol/server/stdio"),
  };
}

const instructions =
  "What the prompts of this agent cost, why the provider's cache missed, and what was said in earlier sessions. A session is the latest one unless you name another.";

export function createServer(
  { McpServer }: Pick<Sdk, "McpServer">,
  { tools, dispatcher }: Pick<ServedTools, "tools" | "dispatcher">,
): InstanceType<Sdk["McpServer"]> {
  const about = { name: "strata", version: packageJson.version };
  const server = new McpServer(about, {
    capabilities: { tools: { listChanged: false } },
    instructions,
  });
  for (const { definition, sideEffects } of tools) {
    const { name, description, inputSchemaJson } = definition;
    const inputSchema = toSchema(inputSchemaJson);
    const annotations = { readOnlyHint: sideEffects === "read" || sideEffects === "none" };
    server.registerTool(name, { description, inputSchema, annotations }, async (input, context) => {
      const use = { type: "tool_use" as const, id: `use-${context.mcpReq.id}`, name };
      const [answer] = await dispatcher.runAll([{ ...use, inputJson: JSON.stringify(input) }], {
        sessionId: "strata mcp",
        turnId: "strata mcp",
        role: "unified",
        signal: context.mcpReq.signal,
      });
      return toResult(answer);
    });
  }
  return server;
}

/** Listed as it is. The dispatcher checks inputs, and says every broken rule at once. */
function toSchema(json: JsonText): Library.StandardSchemaWithJSON<object> {
  const schema = parseFields(json) ?? {};
  const own = { input: () => schema, output: () => schema };
  return {
    "~standard": {
      version: 1,
      vendor: "strata",
      validate: (value) => ({ value: fieldsOf(value) }),
      jsonSchema: own,
    },
  };
}

function toResult(answer: Message | undefined): {
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly isError?: true;
} {
  const block = answer?.content.find((each) => each.type === "tool_result");
  const content = (block?.content ?? []).flatMap((each) =>
    each.type === "text" ? [{ type: "text" as const, text: each.text }] : [],
  );
  return block?.isError === true ? { content, isError: true } : { content };
}
