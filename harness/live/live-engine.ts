// Plays a live session through the engine on the simulator, and breaks it before its last turn if asked to.
import { buildFoundation } from "../../src/core/assembly/foundation.ts";
import { appendMessages, openThread } from "../../src/core/assembly/thread.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { itemsOf } from "../../src/core/growing/growing-list.ts";
import type { Message } from "../../src/core/message/message.ts";
import { toToolDefinition, type ToolDefinition } from "../../src/core/message/tool-definition.ts";
import { noUsage } from "../../src/core/message/usage.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import type { Session } from "../../src/core/session/session.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { toEndpoint } from "../../src/core/wire/access.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../src/core/wire/openai/responses/index.ts";
import type { Protocol } from "../../src/core/wire/protocol.ts";
import { createProvider } from "../../src/edge/providers/provider.ts";
import { withPlanBetas } from "../../src/edge/providers/reach-calls.ts";
import { createEventBus } from "../../src/edge/events/event-bus.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { runTurn } from "../../src/engine.ts";
import { openSession } from "../../src/engine/session/open-session.ts";
import { switchModel } from "../../src/engine/session/switch-model.ts";
import type { CallEntry } from "../../src/core/ledger/call-entry.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { createScripted, createSimulator } from "../../src/simulator/index.ts";
import {
  plantedBeta,
  type LiveBreak,
  type LiveCall,
  type LiveRun,
  type LiveTalk,
  type LiveTool,
} from "./live-talk.ts";
import { plantedKey } from "../planted-key.ts";
import { toResult } from "../simulated-session.ts";

const protocolOf: Readonly<Record<LiveTalk["api"], Protocol>> = {
  "anthropic-messages": anthropicMessages,
  "openai-responses": openaiResponses,
  "openai-chat": openaiChat,
};

export async function playEngine(talk: LiveTalk, broken: LiveBreak | null): Promise<LiveRun> {
  const simulator = createSimulator({
    seed: 1,
    clock: "virtual",
    model: createScripted(talk.turns.flatMap(({ replies }) => replies)),
  });
  const server = await simulator.listen({ port: 0 });
  const plain = protocolOf[talk.api];
  let betas: readonly string[] = [];
  const protocol = withPlanBetas(plain, () => ({ any: betas, long: [] }));
  const baseUrl = `${server.url}${new URL(plain.access.baseUrl).pathname}`;
  const endpoint = toEndpoint(plain.access, { apiKey: plantedKey, baseUrl });
  const provider = createProvider({ protocol, ...endpoint, retries: { attemptsMax: 1 } });
  const ledger = await openLedger(":memory:");
  const watch = createWatch();
  let session = openLive(talk, protocol);
  let planted = -1;
  try {
    for (const [index, { afterMs, text, toolResult }] of talk.turns.entries()) {
      await simulator.clock.advance(afterMs);
      if (index === talk.turns.length - 1) planted = watch.calls().length;
      if (index === talk.turns.length - 1 && broken !== null) {
        session = await breakSession(session, broken, talk, ledger);
        betas = broken.kind === "beta header" ? [plantedBeta] : [];
        if (losesAll(broken)) simulator.billing.clear();
        await simulator.clock.advance(broken.pauseMs);
      }
      const event = { content: text, source: "human" } as const;
      const done = await runTurn(
        session,
        { id: `turn-${index + 1}`, event, volatile: [] },
        {
          provider,
          ledger,
          events: watch.events,
          now: () => simulator.clock.now(),
          runTools: async (uses) => {
            await simulator.clock.advance(2000);
            return uses.map((use) => toResult(use, toolResult));
          },
        },
      );
      watch.take(done.calls);
      const { failure = null } = done.calls.at(-1) ?? {};
      if (done.end !== "done") throw new Error(`${done.end}: ${JSON.stringify(failure)}`);
      session = done.session;
    }
  } finally {
    await provider.close();
    await server.close();
    await watch.events.close();
    await ledger.close();
  }
  return { calls: watch.calls(), planted, headBytes: headOf(session, talk) };
}

/** Where the words of the first message begin in their block. */
function headOf({ thread }: Session, { turns }: LiveTalk): number {
  const words = turns[0]?.text.slice(-20) ?? "";
  const texts = thread.messages.at(0)?.content ?? [];
  const held = texts.find((block) => block.type === "text" && block.text.includes(words));
  if (held?.type !== "text") return 0;
  return held.text.length - (turns[0]?.text.length ?? 0);
}

/** Pairs every bill with the miss that was told of its call. */
function createWatch() {
  const events = createEventBus({ onProblem: () => {} });
  const misses: LiveCall["miss"][] = [];
  const bills: CallEntry[] = [];
  events.subscribe((event) => {
    if (event.type === "llm.call_completed") misses.push(null);
    if (event.type === "cache.miss") misses[misses.length - 1] = event.payload;
  });
  return {
    events,
    take: (calls: readonly CallEntry[]): void => void bills.push(...calls),
    calls: (): readonly LiveCall[] =>
      bills.map(({ usage }, at) => ({ usage: usage ?? noUsage, miss: misses[at] ?? null })),
  };
}

/** What a provider does with another beta feature is not published: here it loses everything. */
export function losesAll({ kind }: LiveBreak): boolean {
  return kind === "beta header" || kind === "lost";
}

function openLive({ model, policy, tools, system }: LiveTalk, protocol: Protocol): Session {
  return openSession({
    id: "live",
    model: resolveModel(model).facts,
    protocol,
    policy: findPolicy(policy),
    context: { role: "unified", workspaceRules: system },
    tools: tools.map((tool) => ({ definition: toDefinition(tool), needs: [] })),
    counter: cheapCounter,
    options: { outputTokensMax: 1000, stream: true },
  });
}

function toDefinition({ name, description }: LiveTool): ToolDefinition {
  return toToolDefinition({ name, description, inputSchema: liveSchema });
}

export const liveSchema = {
  type: "object",
  properties: { path: { type: "string" } },
} as const;

/** As a caller would that builds its prompt anew and makes a mistake. */
async function breakSession(
  session: Session,
  broken: LiveBreak,
  talk: LiveTalk,
  ledger: Ledger,
): Promise<Session> {
  const { options, thread } = session;
  switch (broken.kind) {
    case "model switched":
      return switchTo(session, broken.model, talk, ledger);
    case "tool choice":
      return { ...session, options: { ...options, toolChoice: "none" } };
    case "effort":
      return { ...session, options: { ...options, effort: "low" } };
    case "tools reordered":
    case "tool edited":
    case "system byte":
    case "old message": {
      const { foundation } = thread;
      const order = new Map(foundation.tools.map(({ name }, at) => [name, at]));
      const isReordered = broken.kind === "tools reordered";
      const tools = broken.tools.map(toDefinition);
      const sent = isReordered
        ? foundation.tools.toReversed()
        : tools.toSorted(
            (left, right) => (order.get(left.name) ?? 0) - (order.get(right.name) ?? 0),
          );
      const changed = buildFoundation({
        ...foundation,
        tools: sent,
        system: foundation.system.map((block) => ({
          ...block,
          text: block.text.replace(talk.system, broken.system),
        })),
        model: session.model,
      });
      const messages = [...itemsOf(thread.messages)];
      const [first, ...rest] = messages;
      const rewritten = first === undefined ? [] : [rewrite(first, talk, broken), ...rest];
      return { ...session, thread: appendMessages(openThread(changed), rewritten) };
    }
    case "beta header":
    case "expired":
    case "too short":
    case "lost":
      return session;
  }
}

/** The event's own words change; what the layout puts around them stays. */
function rewrite(message: Message, { turns }: LiveTalk, { firstText }: LiveBreak): Message {
  const old = turns[0]?.text ?? "";
  const content = message.content.map((block) =>
    block.type === "text" ? { ...block, text: block.text.replace(old, firstText ?? old) } : block,
  );
  return { ...message, content };
}

function switchTo(
  session: Session,
  name: string,
  talk: LiveTalk,
  ledger: Ledger,
): Promise<Session> {
  const { protocol, policy, options } = session;
  const model = resolveModel(name).facts;
  const to = { model, modelName: name, protocol, policy, options };
  return switchModel(session, to, {
    ledger,
    counter: cheapCounter,
    context: () =>
      Promise.resolve({
        context: { role: "unified", workspaceRules: talk.system },
        tools: talk.tools.map((tool) => ({ definition: toDefinition(tool), needs: [] })),
      }),
  });
}
