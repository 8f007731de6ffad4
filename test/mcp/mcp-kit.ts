// `strata mcp` in a process of its own, asked by the official client or line by line.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { toProgram } from "../run-strata.ts";

/** The official client, connected. */
export async function openClient(
  words: readonly string[],
  { env = {}, era = "legacy" }: { env?: Record<string, string>; era?: "legacy" | "auto" } = {},
): Promise<Client> {
  const [command = "", ...args] = toProgram(["mcp", ...words]);
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: era }, capabilities: {} },
  );
  const transport = new StdioClientTransport({ command, args, env, stderr: "inherit" });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

/** The text of a tool's answer, with `error:` before an error. */
export async function useTool(
  client: Client,
  name: string,
  input: Record<string, unknown> = {},
): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const text = content.map((each) => (each.type === "text" ? each.text : each.type)).join("\n");
  return isError === true ? `error: ${text}` : text;
}

export interface RawServer {
  /** Writes a line as it is. */
  say(line: string): void;
  /** Sends a request and waits for the answer with its id. */
  ask(method: string, params?: unknown): Promise<Record<string, unknown>>;
  notify(method: string, params?: unknown): void;
  /** Closes its input, and waits for it to end. */
  end(): Promise<number | null>;
}

/** The protocol by hand: a line of JSON there, a line of JSON back. */
export function openRaw(words: readonly string[]): RawServer {
  const [command = "", ...args] = toProgram(["mcp", ...words]);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const over = once(child, "close");
  onTestFinished(async () => {
    child.stdin.end();
    await over;
  });
  const waiting = new Map<unknown, (answer: Record<string, unknown>) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer: Record<string, unknown> = JSON.parse(line);
    waiting.get(answer["id"])?.(answer);
  });
  let id = 0;
  const say = (line: string): void => void child.stdin.write(`${line}\n`);
  return {
    say,
    ask: (method, params) => {
      id += 1;
      const answered = Promise.withResolvers<Record<string, unknown>>();
      waiting.set(id, answered.resolve);
      say(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      return answered.promise;
    },
    notify: (method, params) => say(JSON.stringify({ jsonrpc: "2.0", method, params })),
    end: async () => {
      child.stdin.end();
      await over;
      return child.exitCode;
    },
  };
}

export const hello = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
};
