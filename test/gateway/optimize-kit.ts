// Conversations as clients of several kinds send them, through a gateway with the simulator behind it. The clock is the test's.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Anthropic } from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, onTestFinished, vi } from "vitest";
import { plantedKey, plantedOpenaiKey } from "../../harness/planted-key.ts";
import type { UpstreamConfig } from "../../src/core/config/schema/gateway.ts";
import { openServe } from "../../src/cli/serve/open-serve.ts";
import { createAgent, createSimulator } from "../../src/simulator/index.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";
import { bytesOf, openUpstream } from "./kit.ts";
import { claude, gpt, manual } from "../simulator-clients/serve.ts";

export interface OptimizedServe {
  readonly url: string;
  /** Every call so far. */
  readonly calls: readonly ObservedCall[];
  /** The ledger. */
  readonly store: string;
  /** Resolves when so many calls of clients were observed. */
  until(count: number): Promise<void>;
  /** Resolves when so many calls are in the ledger. */
  untilRecorded(count: number): Promise<void>;
}

export interface ServeSetting {
  readonly isOptimizing: boolean;
  /** The configuration. */
  readonly yaml?: string;
  /** In place of the simulator. */
  readonly upstreams?: ReadonlyMap<string, UpstreamConfig>;
}

export async function serveOptimized(setting: ServeSetting): Promise<OptimizedServe> {
  const {
    isOptimizing,
    yaml = "gateway: { optimize: { holdout: 0, wait_ms: 5000 } }",
    upstreams,
  } = setting;
  const folder = mkdtempSync(join(tmpdir(), "strata-serve-"));
  const configFile = join(folder, "strata.yaml");
  writeFileSync(configFile, yaml);
  const store = join(folder, "ledger.db");
  const calls: ObservedCall[] = [];
  const served = await openServe({
    flags: {
      port: 0,
      host: null,
      configFile,
      upstreams: upstreams ?? new Map(),
      isSimulated: upstreams === undefined,
      isDemo: false,
      isOnlyApi: false,
      store,
      recordFolder: null,
      isOptimizing,
      lines: "none",
    },
    env: {},
    onNotice: (notice) => expect.unreachable(notice),
    onCall: (call) => calls.push(call),
  });
  onTestFinished(async () => {
    // On a busy machine the ledger's thread may still be starting.
    await expect.poll(() => served.gateway.stats().waitingCount, startingLedger).toBe(0);
    await served.close("at once");
    rmSync(folder, { recursive: true });
  });
  return {
    url: served.gateway.urls[0] ?? "",
    calls,
    store,
    untilRecorded: async (count) => {
      await expect.poll(() => served.gateway.stats().recordedCount, waiting).toBe(count);
    },
    until: async (count) => {
      await expect.poll(() => calls.filter(isOfClient).length, waiting).toBe(count);
    },
  };
}

function serverAt(baseUrl: string): UpstreamConfig {
  return { baseUrl, protocol: null, headers: new Map() };
}

/** An upstream that keeps what it gets and asks the simulator. */
export async function openCapture(bodies: Buffer[]): Promise<ReadonlyMap<string, UpstreamConfig>> {
  const simulator = createSimulator({ model: createAgent(), seed: 1 });
  const url = await openUpstream(async (incoming, outgoing) => {
    const body = await bytesOf(incoming);
    expect(Number(incoming.headers["content-length"])).toBe(body.length);
    bodies.push(body);
    const headers = Object.entries(incoming.headers).flatMap(([name, value]) =>
      typeof value === "string" && name !== "content-length" && name !== "host"
        ? [[name, value] as const]
        : [],
    );
    const answer = await simulator.fetch(`http://127.0.0.1${incoming.url ?? ""}`, {
      method: "POST",
      headers: Object.fromEntries(headers),
      body: body.toString(),
    });
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
    outgoing.end(Buffer.from(await answer.arrayBuffer()));
  });
  return new Map([
    ["anthropic", serverAt(url)],
    ["openai", serverAt(`${url}/v1`)],
  ]);
}

function isOfClient({ purpose }: ObservedCall): boolean {
  return purpose === undefined;
}

const startingLedger = { timeout: 30_000, interval: 5 };

const waiting = { timeout: 10_000, interval: 2 };

/** Every clock of this process stands still from now on; restored after the test. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** One client's conversations. Each call waits for `turn`, which sets the clock to so many seconds after the start. */
export type Play = (url: string, turn: (atSeconds: number) => Promise<void>) => Promise<void>;

type Fields = Record<string, unknown>;

const marker = { cache_control: { type: "ephemeral" } };
const tools = ["Bash", "Read", "Edit"].map((name) => ({
  name,
  description: `${name} does what its name says. `.repeat(40),
  input_schema: { type: "object", properties: { path: { type: "string" } } },
}));

function said(call: number): string {
  return `Step ${call}. ${"The build says that a file is missing, and which one. ".repeat(20)}`;
}

/** What a conversation has before its call of this number, as texts. */
export function history(call: number): Fields[] {
  return Array.from({ length: 2 * call + 1 }, (_, at): Fields =>
    at % 2 === 0
      ? { role: "user", content: said(at / 2) }
      : { role: "assistant", content: `I look at it. ${"Then I see. ".repeat(10)}` },
  );
}

/** Its last messages as lists with a marker, as agents write them; the others as texts again. */
function marked(messages: readonly Fields[], count: number): Fields[] {
  return messages.map((message, at) =>
    at < messages.length - count
      ? message
      : { ...message, content: [{ type: "text", text: message["content"], ...marker }] },
  );
}

async function send(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Fields,
): Promise<void> {
  const response = await fetch(`${url}/v1/messages?beta=true`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      "x-api-key": plantedKey,
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const answer = await response.text();
  expect({ status: response.status, answer }).toMatchObject({ status: 200 });
}

/** Seconds at which calls start: steps of an agent, with a person's pause after every few. */
function times(calls: number, pauseEvery: number, pauseSeconds: number): number[] {
  return Array.from(
    { length: calls },
    (_, call) => call * 20 + Math.floor(call / pauseEvery) * pauseSeconds,
  );
}

function codingAgent(at: readonly number[]): Play {
  return async (url, turn) => {
    for (const [call, seconds] of at.entries()) {
      await turn(seconds);
      const system = [
        { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.325.574;" },
        { type: "text", text: "You are an agent.", ...marker },
        { type: "text", text: manual, ...marker },
      ];
      const headers = {
        "user-agent": "claude-cli/2.1.325 (external, cli)",
        "x-claude-code-session-id": "s-1",
      };
      const messages = marked(history(call), 1);
      await send(url, headers, {
        model: claude,
        messages,
        system,
        tools,
        max_tokens: 1000,
        metadata: { user_id: '{"session_id":"s-1"}' },
        stream: true,
      });
    }
  };
}

export const plays: Readonly<Record<string, Play>> = {
  "a program without any markers": async (url, turn) => {
    const client = new Anthropic({ baseURL: url, apiKey: plantedKey, maxRetries: 0 });
    for (const [call, seconds] of times(12, 99, 0).entries()) {
      await turn(seconds);
      await client.messages
        .stream({
          model: claude,
          max_tokens: 1000,
          system: manual,
          tools: tools as Anthropic.Tool[],
          messages: history(call) as unknown as Anthropic.MessageParam[],
        })
        .finalMessage();
    }
  },
  "a coding agent that marks its system text and its last message": codingAgent(times(14, 99, 0)),
  "a coding agent whose user pauses for twenty minutes": codingAgent(times(16, 4, 1200)),
  "an agent that marks its last two messages": async (url, turn) => {
    for (const [call, seconds] of times(12, 6, 60).entries()) {
      await turn(seconds);
      const headers = { "user-agent": "opencode/1.18.33", "x-session-affinity": "ses_1" };
      const system = [{ type: "text", text: manual, ...marker }];
      const messages = marked(history(call), 2);
      await send(url, headers, {
        model: claude,
        max_tokens: 1000,
        system,
        messages,
        tools,
        stream: true,
      });
    }
  },
  "questions that are asked once, with and without a marker": async (url, turn) => {
    const client = new Anthropic({ baseURL: url, apiKey: plantedKey, maxRetries: 0 });
    for (let question = 0; question < 14; question += 1) {
      await turn(question * 40);
      const isMarked = question % 2 === 0;
      const text = `${isMarked ? "With" : "Without"} a marker. ${manual}`;
      await client.messages.create({
        model: claude,
        max_tokens: 1000,
        system: [
          {
            type: "text",
            text,
            ...(isMarked ? { cache_control: { type: "ephemeral" as const } } : {}),
          },
        ],
        messages: [{ role: "user", content: `Question ${question}: ${said(question)}` }],
      });
    }
  },
  "sub-agents with one system text": async (url, turn) => {
    for (let agent = 0; agent < 4; agent += 1) {
      for (let call = 0; call < 4; call += 1) {
        await turn(agent * 200 + call * 15);
        const headers = {
          "user-agent": "claude-cli/2.1.325 (external, cli)",
          "x-claude-code-session-id": "s-2",
          "x-claude-code-agent-id": `agent-${agent}`,
        };
        const [first, ...more] = history(call);
        const task = { ...first, content: `Task ${agent}. ${said(agent)}` };
        const system = [{ type: "text", text: manual, ...marker }];
        await send(url, headers, {
          model: claude,
          messages: marked([task, ...more], 1),
          system,
          tools,
          max_tokens: 1000,
          stream: true,
        });
      }
    }
  },
  "OpenAI with breakpoints of the client": async (url, turn) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: plantedOpenaiKey, maxRetries: 0 });
    for (const [call, seconds] of times(10, 99, 0).entries()) {
      await turn(seconds);
      const breakpoint = { prompt_cache_breakpoint: { mode: "explicit" } };
      const messages = history(call).map((message, at, { length }) =>
        at === length - 1
          ? { ...message, content: [{ type: "text", text: message["content"], ...breakpoint }] }
          : message,
      );
      const system = { role: "system", content: [{ type: "text", text: manual, ...breakpoint }] };
      const stream = await client.chat.completions.create({
        model: gpt,
        messages: [system, ...messages] as unknown as OpenAI.ChatCompletionMessageParam[],
        stream: true,
        stream_options: { include_usage: true },
      });
      for await (const part of stream) expect(part).toBeDefined();
    }
  },
  "OpenAI without any": async (url, turn) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: plantedOpenaiKey, maxRetries: 0 });
    for (const [call, seconds] of times(10, 5, 600).entries()) {
      await turn(seconds);
      await client.responses.create({
        model: gpt,
        instructions: manual,
        input: history(call) as unknown as OpenAI.Responses.ResponseInput,
        store: false,
      });
    }
  },
  "OpenAI with tools, many messages at once, and pauses": async (url, turn) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: plantedOpenaiKey, maxRetries: 0 });
    for (const [call, seconds] of times(8, 5, 2400).entries()) {
      await turn(seconds);
      await client.chat.completions.create({
        model: gpt,
        tools: tools.map(({ name, description, input_schema: parameters }) => ({
          type: "function",
          function: { name, description, parameters },
        })),
        messages: [
          { role: "system", content: manual },
          ...(history(call * 24) as unknown as OpenAI.ChatCompletionMessageParam[]),
        ],
      });
    }
  },
};
