// A host whose strata.yaml names MCP servers, a model that uses their tools, and a server over HTTP that the test plays.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { openHost, type Host, type HostOptions } from "../../src/host/open-host.ts";
import { createSummariser, type Prompt, type Reply } from "../../src/simulator/index.ts";

export interface McpHost {
  readonly host: Host;
  readonly notices: string[];
  /** What the model was sent, call by call. */
  readonly prompts: Prompt[];
  /** The tools that the next replies use, one reply each; after them the model says that it is done. */
  readonly uses: { readonly name: string; readonly input: object }[];
  /** The results that the model read last. */
  results(): readonly string[];
}

export async function openMcpHost(
  mcp: object,
  { yaml = "", ...options }: Partial<HostOptions> & { readonly yaml?: string } = {},
): Promise<McpHost> {
  const folder = mkdtempSync(join(tmpdir(), "strata-mcp-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const workspace = join(folder, "work");
  mkdirSync(workspace);
  const configFile = join(folder, "strata.yaml");
  writeFileSync(configFile, `mcp: ${JSON.stringify(mcp)}\n${yaml}`);
  const kept = { notices: [] as string[], prompts: [] as Prompt[], uses: [] as McpHost["uses"] };
  const summarise = createSummariser();
  const host = await openHost({
    configFile,
    workspace,
    counter: cheapCounter,
    homeFolder: folder,
    onNotice: (notice) => void kept.notices.push(notice),
    confirm: () => Promise.resolve(true),
    ...options,
    env: { STRATA_DATA_DIR: folder, HOME: folder, ...options.env },
    simulator: {
      model: (prompt) => {
        if (prompt.turns.at(-1)?.text.includes("## Open questions") === true)
          return summarise(prompt);
        kept.prompts.push(prompt);
        const use = kept.uses.shift();
        if (use === undefined) return said("done");
        const { name, input } = use;
        const part = { kind: "tool use" as const, name, inputJson: JSON.stringify(input) };
        return { parts: [part], stop: "tool use" };
      },
    },
  });
  onTestFinished(() => host.close());
  const results = (): readonly string[] =>
    kept.prompts.at(-1)?.turns.flatMap(({ toolResults }) => toolResults.map(({ text }) => text)) ??
    [];
  return { host, ...kept, results };
}

function said(text: string): Reply {
  return { parts: [{ kind: "text", text }], stop: "end" };
}

export interface PlayedServer {
  readonly url: string;
  /** Authorization headers of all requests. */
  readonly tokens: Set<string>;
  /** The names of its tools from now on. */
  tools: string[];
  close(): Promise<void>;
}

/** `port`: where one was before, to come back there. */
export async function playServer(tools: readonly string[], port = 0): Promise<PlayedServer> {
  const played = { tokens: new Set<string>(), tools: [...tools] };
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "played", version: "1" });
    for (const name of played.tools) {
      const inputSchema = fromJsonSchema<{ word?: string }>({
        type: "object",
        properties: { word: { type: "string", pattern: "^[a-z]*$" } },
      });
      const about = {
        description: `echoes for ${name}`,
        inputSchema,
        annotations: { readOnlyHint: true },
      };
      server.registerTool(name, about, ({ word = "" }) => ({
        content: [
          { type: "text", text: `${name} says ${word}` },
          { type: "image", data: "AAAA", mimeType: "image/png" },
        ],
      }));
    }
    return server;
  });
  const http = createServer((incoming, outgoing) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
      const headers = new Headers(incoming.headers as Record<string, string>);
      played.tokens.add(headers.get("authorization") ?? "");
      const { method = "GET", url = "/" } = incoming;
      const body = chunks.length === 0 ? null : Buffer.concat(chunks);
      const request = new Request(`http://127.0.0.1${url}`, { method, headers, body });
      const answer = await handler.fetch(request);
      outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
      for await (const chunk of answer.body ?? []) outgoing.write(chunk);
      outgoing.end();
    })();
  });
  const server = await listen(http, port);
  return Object.assign(played, server);
}

export async function listen(
  http: Server,
  port = 0,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
  const address = http.address();
  const bound = typeof address === "object" && address !== null ? address.port : 0;
  const close = async (): Promise<void> => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${bound}/mcp`, close };
}
