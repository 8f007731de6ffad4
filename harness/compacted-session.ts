// A session on the simulator that the provider compacts between two of its turns.
import { plantedKey } from "./planted-key.ts";
import { assert } from "../src/core/assert.ts";
import {
  appendMessages,
  messagesFrom,
  openThread,
  type Thread,
} from "../src/core/assembly/thread.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import type { Message } from "../src/core/message/message.ts";
import { toToolDefinition } from "../src/core/message/tool-definition.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { formatUsd } from "../src/core/models/pico-usd.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import { openaiResponses } from "../src/core/wire/openai/responses/index.ts";
import type { OfferedTool } from "../src/core/tools/select-tools.ts";
import type { CallOptions, Protocol } from "../src/core/wire/protocol.ts";
import type { Ledger } from "../src/core/ledger/ledger.ts";
import { anthropicEndpoint } from "../src/core/wire/anthropic-messages/access.ts";
import { openaiEndpoint } from "../src/core/wire/openai/access.ts";
import { createProvider, type Provider } from "../src/edge/providers/provider.ts";
import { openLedger } from "../src/edge/stores/open-ledger.ts";
import { runTurn, type TurnResult } from "../src/engine.ts";
import {
  createScripted,
  createSimulator,
  type ScriptStep,
  type Simulator,
} from "../src/simulator/index.ts";
import {
  compactAtProvider,
  type ProviderCompaction,
} from "../src/engine/compaction/compact-at-provider.ts";
import type { ProviderWish } from "../src/core/turn/compaction/make-notes.ts";
import { type Session, type SessionSetup } from "../src/core/session/session.ts";

export interface World {
  readonly simulator: Simulator;
  readonly provider: Provider;
  readonly ledger: Ledger;
  /** The beta features of each request. */
  readonly betas: (string | undefined)[];
}

const opened: { close(): Promise<void> }[] = [];

/** Closes all opened worlds, the latest first. */
export async function closeWorlds(): Promise<void> {
  for (const each of opened.splice(0).toReversed()) await each.close();
}

function closeLater<Opened extends { close(): Promise<void> }>(each: Opened): Opened {
  opened.push(each);
  return each;
}

export const summaryText =
  "They looked at modules 1 to 4; module 3 holds the parser of src/parse.ts.";

export const usualSteps: readonly ScriptStep[] = [
  { when: { wants: "summary" }, times: "always", text: summaryText },
  {
    when: { wants: "reply" },
    times: "always",
    thinking: "I look at the module first.",
    text: "Module read, nothing to report that was not known before.",
  },
];

export async function openWorld(
  protocol: Protocol,
  steps: readonly ScriptStep[] = usualSteps,
): Promise<World> {
  const simulator = createSimulator({ seed: 1, clock: "virtual", model: createScripted(steps) });
  const server = closeLater(await simulator.listen({ port: 0 }));
  const isAnthropic = protocol.name === "anthropic-messages";
  const endpoint = isAnthropic ? anthropicEndpoint : openaiEndpoint;
  const baseUrl = isAnthropic ? server.url : `${server.url}/v1`;
  const provider = closeLater(
    createProvider({
      protocol,
      ...endpoint({ apiKey: plantedKey, baseUrl }),
      retries: { attemptsMax: 2, backoffMsBase: 0 },
    }),
  );
  const betas: (string | undefined)[] = [];
  const send: Provider["send"] = (call) => {
    betas.push(call.request.headers["anthropic-beta"]);
    return provider.send(call);
  };
  return {
    simulator,
    provider: { ...provider, send },
    ledger: closeLater(await openLedger(":memory:")),
    betas,
  };
}

const rules = Array.from(
  { length: 120 },
  (_, index) => `Rule ${index}: before you change module ${index}, read its tests and its callers.`,
).join("\n");

export const tools: readonly OfferedTool[] = [
  {
    definition: toToolDefinition({
      name: "read_file",
      description: "Reads a file of the workspace.",
      inputSchema: { type: "object", properties: { path: { type: "string" } } },
    }),
    needs: [],
  },
];

export interface Kind {
  readonly protocol: Protocol;
  readonly model: string;
  readonly options?: Partial<CallOptions>;
  readonly more?: Partial<SessionSetup>;
}

export const claude: Kind = {
  protocol: anthropicMessages,
  model: "claude-opus-5-5",
  more: { tools },
};
export const gpt: Kind = { protocol: openaiResponses, model: "gpt-6.1-sol" };

export function setupOf({ protocol, model, options, more }: Kind): SessionSetup {
  return {
    model: resolveModel(model).facts,
    protocol,
    policy: findPolicy("adaptive"),
    context: { role: "unified", workspaceRules: rules, date: "2026-11-15" },
    counter: cheapCounter,
    options: { outputTokensMax: 4000, stream: true, ...options },
    ...more,
  };
}

export async function say(session: Session, world: World, number: number): Promise<TurnResult> {
  const { simulator, provider, ledger } = world;
  await simulator.clock.advance(30_000);
  const text = `Turn ${number}: look at module ${number} and say what depends on it. ${"Take your time. ".repeat(40)}`;
  const run = await runTurn(
    session,
    { id: `turn-${number}`, event: { content: text, source: "human" } },
    { provider, ledger, now: () => simulator.clock.now(), runTools: () => Promise.resolve([]) },
  );
  const failure = run.calls.find((call) => call.failure !== null)?.failure;
  assert(failure === undefined, failure?.detail ?? "");
  return run;
}

export async function talk(
  session: Session,
  world: World,
  from: number,
  to: number,
): Promise<Session> {
  let next = session;
  for (let number = from; number <= to; number += 1)
    ({ session: next } = await say(next, world, number));
  return next;
}

export async function compact(
  session: Session,
  world: World,
  request: Partial<ProviderWish> = {},
  signal?: AbortSignal,
): Promise<ProviderCompaction> {
  const { simulator, provider } = world;
  await simulator.clock.advance(10_000);
  return compactAtProvider(
    session,
    { thread: session.thread, pending: [], volatile: null, ...request },
    { provider, now: () => simulator.clock.now(), ...(signal === undefined ? {} : { signal }) },
  );
}

export type Compacted = Extract<ProviderCompaction, { kind: "compacted" }>;
export type Failed = Extract<ProviderCompaction, { kind: "failed" }>;

export function asCompacted(outcome: ProviderCompaction): Compacted {
  assert(outcome.kind === "compacted", reasonsOf(outcome));
  return outcome;
}

export function asFailed(outcome: ProviderCompaction): Failed {
  assert(outcome.kind === "failed", `not failed but ${outcome.kind}`);
  return outcome;
}

function reasonsOf(outcome: ProviderCompaction): string {
  if (outcome.kind === "unavailable") return outcome.why;
  return outcome.kind === "failed" ? outcome.reasons.join(" ") : "";
}

/** The thread's first messages, and the rest. */
export function cut(session: Session, at: number): { head: Thread; tail: readonly Message[] } {
  const messages = messagesFrom(session.thread, 0);
  const head = appendMessages(openThread(session.thread.foundation), messages.slice(0, at));
  return { head, tail: messages.slice(at) };
}

export function compaction(
  session: Session,
  { messages, cache }: Compacted,
  tail: readonly Message[] = [],
): Session {
  const { foundation } = session.thread;
  const thread = appendMessages(openThread(foundation), [...messages, ...tail]);
  return { ...session, thread, cache };
}

export function lastBilled({ simulator }: World): {
  costUsd: string | null | undefined;
  readTokens: number;
} {
  const { billed } = simulator.calls().at(-1) ?? {};
  return { costUsd: billed?.costUsd, readTokens: billed?.bill.readTokens ?? -1 };
}

export function costOf({ calls }: Compacted | Failed): string | null {
  const [call] = calls;
  return call === undefined || call.costPicoUsd === null ? null : formatUsd(call.costPicoUsd);
}

/** The part of a prompt that was read: its last block and its tokens. */
export interface ReadPart {
  readonly block: number | null;
  readonly tokens: number;
}

export interface WentOn {
  readonly session: Session;
  /** What each call's plan expected to read, and what the simulator billed as read. */
  readonly planned: readonly ReadPart[];
  readonly billed: readonly ReadPart[];
  readonly verdicts: readonly (string | undefined)[];
}

/** Two more turns. */
export async function goOn(session: Session, world: World, from: number): Promise<WentOn> {
  const first = await say(session, world, from);
  const second = await say(first.session, world, from + 1);
  const calls = [...first.calls, ...second.calls];
  const bills = world.simulator.calls().slice(-calls.length);
  return {
    session: second.session,
    planned: calls.map(({ plan: { expected } }) => ({
      block: expected.hitBlock,
      tokens: expected.readTokens,
    })),
    billed: bills.map(({ billed }) => ({
      block: billed?.bill.hitBlock ?? null,
      tokens: billed?.bill.readTokens ?? 0,
    })),
    verdicts: calls.map(({ verdict }) => verdict?.kind),
  };
}
