// One connection to an MCP server: a program of this machine, or an address.
import packageJson from "../../../../package.json" with { type: "json" };
import type * as Library from "@modelcontextprotocol/client";
import type { Client, Tool as RemoteTool, Transport } from "@modelcontextprotocol/client";
import type * as Stdio from "@modelcontextprotocol/client/stdio";
import { messageOf } from "../../../core/strata-error.ts";

/** The official client library, which is installed only where MCP servers are used. */
export interface McpSdk {
  readonly client: typeof Library;
  readonly stdio: typeof Stdio;
}

export interface McpServerPlace {
  /** How the server is reached. */
  readonly reach:
    | {
        readonly kind: "program";
        readonly command: string;
        readonly args: readonly string[];
        /** Besides the few harmless variables that every program gets. */
        readonly env: Readonly<Record<string, string>>;
        readonly folder: string | null;
      }
    | {
        readonly kind: "address";
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
      };
  /** For the server to be there, and to list its tools. */
  readonly connectMs: number;
}

export interface ServerConnection {
  readonly client: Client;
  readonly tools: readonly RemoteTool[];
  close(): Promise<void>;
}

export interface ConnectionEvents {
  readonly onTools: (tools: readonly RemoteTool[]) => void;
  readonly onClosed: () => void;
}

/** One message of a server, also a list of its tools. */
const messageBytesMax = 10 * 1024 * 1024;

/** Connects and lists the tools within the time; else nothing stays open. */
export async function connectServer(
  sdk: McpSdk,
  { reach, connectMs }: McpServerPlace,
  { onTools, onClosed }: ConnectionEvents,
): Promise<ServerConnection> {
  const said = { tail: "" };
  const transport = toTransport(sdk, reach, said);
  const client = new sdk.client.Client(
    { name: "strata", version: packageJson.version },
    {
      capabilities: {},
      versionNegotiation: { mode: "auto" },
      // A server's output schema is not ours to check, and may be made to take for ever.
      jsonSchemaValidator: { getValidator: () => acceptAll },
      listMaxPages: 16,
      listChanged: {
        tools: {
          autoRefresh: true,
          debounceMs: 500,
          onChanged: (error, tools) => {
            if (error === null && tools !== null) onTools(tools);
          },
        },
      },
    },
  );
  // What a server says out of turn is its own fault; a request of ours that it breaks is rejected.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library's own way
  client.onerror = () => {};
  const signal = AbortSignal.timeout(connectMs);
  const limits = { signal, timeout: connectMs, maxTotalTimeout: connectMs };
  try {
    await untilAborted(client.connect(transport, limits), signal);
    const { tools } = await untilAborted(client.listTools(undefined, limits), signal);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library's own way
    client.onclose = onClosed;
    return { client, tools, close: () => closeAll(client, transport) };
  } catch (error) {
    await closeAll(client, transport);
    const why = signal.aborted ? `no answer within ${connectMs / 1000} s` : messageOf(error);
    const tail = said.tail.trim();
    throw new Error(tail === "" ? why : `${why}; it said: ${tail.slice(-500)}`, { cause: error });
  }
}

type Reach = McpServerPlace["reach"];

function toTransport({ client, stdio }: McpSdk, reach: Reach, said: { tail: string }): Transport {
  if (reach.kind === "address") {
    return new client.StreamableHTTPClientTransport(new URL(reach.url), {
      requestInit: { headers: { ...reach.headers } },
      redirectPolicy: "same-origin",
      fetch: async (url, init) => withLimit(await fetch(url, init)),
    });
  }
  const { command, args, env, folder } = reach;
  const transport = new stdio.StdioClientTransport({
    command,
    args: [...args],
    env: { ...stdio.getDefaultEnvironment(), ...env },
    stderr: "pipe",
    maxBufferSize: messageBytesMax,
    ...(folder === null ? {} : { cwd: folder }),
  });
  transport.stderr?.on("data", (bytes: Buffer) => {
    said.tail = `${said.tail}${bytes.toString()}`.slice(-2000);
  });
  return transport;
}

/** An answer that does not end is broken off. A stream of events may be long, so its pause between two lines counts. */
function withLimit(response: Response): Response {
  if (response.body === null) return response;
  let pending = 0;
  const limited = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, controller) => {
        const last = bytes.lastIndexOf(10);
        pending = last === -1 ? pending + bytes.byteLength : bytes.byteLength - last;
        if (pending > messageBytesMax) controller.error(new Error("a message is over 10 MB"));
        else controller.enqueue(bytes);
      },
    }),
  );
  const { status, statusText, headers, url } = response;
  return Object.defineProperty(new Response(limited, { status, statusText, headers }), "url", {
    value: url,
  });
}

/** As valid. */
function acceptAll(input: unknown): { valid: true; data: never; errorMessage: undefined } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a server sends is read field by field
  return { valid: true, data: input as never, errorMessage: undefined };
}

function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", stop));
}

/** A transport that was never connected is closed by itself. */
async function closeAll(client: Client, transport: Transport): Promise<void> {
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library's own way
  client.onclose = () => {};
  await client.close().catch(() => {});
  await transport.close().catch(() => {});
}
