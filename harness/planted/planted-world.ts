// A simulator on a virtual clock, its clients, and a tracker for one of them.
import { setImmediate } from "node:timers/promises";
import type { Explanation } from "../../src/core/diagnosis/explanation.ts";
import { readRequest } from "../../src/core/wire/foreign/read-request.ts";
import { createTracker, type Tracker } from "./session-tracker.ts";
import type { Usage } from "../../src/core/message/usage.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { readUsage } from "../../src/core/wire/anthropic-messages/usage.ts";
import { readChatUsage } from "../../src/core/wire/openai/chat/usage.ts";
import { readResponsesUsage } from "../../src/core/wire/openai/responses/usage.ts";
import { createSimulator, type Simulator } from "../../src/simulator/index.ts";
import type { Api, Rendered, Talk } from "./planted-talk.ts";
import { renderTalk } from "./render-talk.ts";

export interface World {
  readonly sim: Simulator;
  readonly tracker: Tracker;
  readonly latencyMs: number;
}

export interface Answered {
  readonly talk: Talk;
  readonly rendered: Rendered;
  readonly usage: Usage;
  readonly startMs: number;
  readonly firstByteMs: number;
}

export function openWorld(seed: number, latencyMs: number): World {
  const latency = { firstByteMs: latencyMs };
  const sim = createSimulator({ clock: "virtual", seed, latency, callsMax: 1 });
  return { sim, tracker: createTracker(), latencyMs };
}

/** Sends requests of several clients at the same moment; each key has its own cache. */
export async function send(
  { sim, latencyMs }: World,
  key: string,
  ...talks: readonly Talk[]
): Promise<readonly Answered[]> {
  const startMs = sim.clock.now();
  const rendered = talks.map(renderTalk);
  const pending = talks.map(({ api }, index) =>
    sim.fetch(`http://127.0.0.1${paths[api]}`, {
      method: "POST",
      headers: headersOf(api, key),
      body: rendered[index]?.body ?? "",
    }),
  );
  // Lets each request be billed before its response waits for the clock.
  for (let turn = 0; turn < turnsToBill; turn += 1) await setImmediate();
  await sim.clock.advance(latencyMs);
  const firstByteMs = sim.clock.now();
  const replies = await Promise.all(pending.map(async (response) => (await response).json()));
  return talks.map((talk, index) => {
    const reply: unknown = replies[index];
    const shown = rendered[index];
    if (shown === undefined || typeof reply !== "object" || reply === null || !("usage" in reply)) {
      throw new Error(`the simulator refused a request: ${JSON.stringify(reply)}`);
    }
    const { usage } = usageReaders[talk.api](reply.usage);
    return { talk, rendered: shown, usage, startMs, firstByteMs };
  });
}

const turnsToBill = 5;

export async function sendOne(world: World, key: string, talk: Talk): Promise<Answered> {
  const [answered] = await send(world, key, talk);
  if (answered === undefined) throw new Error("no answer");
  return answered;
}

const paths: Readonly<Record<Api, string>> = {
  messages: "/v1/messages",
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
};

const usageReaders: Readonly<Record<Api, (usage: unknown) => { readonly usage: Usage }>> = {
  messages: readUsage,
  chat: readChatUsage,
  responses: readResponsesUsage,
};

function headersOf(api: Api, key: string): Record<string, string> {
  const credentials =
    api === "messages"
      ? { "x-api-key": key, "anthropic-version": "2023-06-01" }
      : { authorization: `Bearer ${key}` };
  return { ...credentials, "content-type": "application/json" };
}

/** The explanation of a call, or null. */
export function watch({ tracker }: World, answered: Answered): Explanation | null {
  const { talk, rendered, usage, startMs, firstByteMs } = answered;
  return tracker.observe("session", readRequest(rendered.body), {
    usage,
    rules: resolveModel(talk.model).facts,
    startMs,
    endMs: firstByteMs,
    firstByteMs,
  });
}
