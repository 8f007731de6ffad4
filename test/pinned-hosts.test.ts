// Goal: a session behind a router reads more of its cache because it asks for the host that has it. Method: talks of 18 turns over
// HTTP with the simulator as OpenRouter, whose hosts change as often as was measured, with the pin and without.
import { onTestFinished, expect, test } from "vitest";
import { plantedKey } from "../harness/planted-key.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { planOf, say } from "../src/core/wire/test-kit.ts";
import { encodeOf } from "../src/core/wire/openai/test-kit.ts";
import { configOf } from "../src/edge/config/test-kit.ts";
import { reachProviders } from "../src/edge/providers/reach-providers.ts";
import type { Message } from "../src/core/message/message.ts";
import { createEcho, type Simulator, type SimulatorOptions } from "../src/simulator/index.ts";
import { serve } from "./engine/test-kit.ts";

interface Talk {
  readonly simulator: Simulator;
  /** Asks the next turn, a minute after the last one. Gives the host, or the failure. */
  readonly ask: () => Promise<string>;
  /** What each request said of hosts. */
  readonly wishes: readonly unknown[];
}

/** Without a pin the request has a choice of hosts already: none. */
async function openTalk(isPinned: boolean, options: SimulatorOptions): Promise<Talk> {
  const wishes: unknown[] = [];
  const model = createEcho();
  const { simulator, url } = await serve({ clock: "virtual", model, ...options }, (_, body) => {
    wishes.push((JSON.parse(body) as { provider?: unknown }).provider ?? null);
  });
  const yaml = `providers: { openrouter: { base_url: "${url}/api/v1", api_key: ${plantedKey}, retries: { attempts_max: 1 } } }`;
  const providers = reachProviders({
    providers: () => configOf(yaml).providers,
    nowMs: () => simulator.clock.now(),
  });
  onTestFinished(() => providers.close());
  const { facts } = resolveModel("openrouter/deepseek-flash");
  const { protocol, provider } = await providers.reach(facts);
  const messages: Message[] = [];
  const ask = async (): Promise<string> => {
    const turn = messages.length;
    messages.push(
      say("user", `Turn ${turn}. ${"Go on with the next chapter, please. ".repeat(30)}`),
    );
    const own = isPinned ? {} : { extraJson: { provider: "{}" } };
    const request = encodeOf({ protocol, model: facts, system, history: messages }, planOf(), own);
    const { outcome } = await provider.send({ request, stream: false });
    await simulator.clock.advance(60_000);
    if (outcome.kind !== "reply") {
      messages.pop();
      return outcome.kind;
    }
    messages.push(say("assistant", "So be it."));
    return outcome.servedBy ?? "";
  };
  return { simulator, ask, wishes };
}

const system = ["Every chapter has a beginning and an end. ".repeat(150)];
const turns = 18;

interface Told {
  readonly switches: number;
  readonly readShare: number;
}

async function play(isPinned: boolean, seed: number): Promise<Told> {
  const { simulator, ask } = await openTalk(isPinned, { seed });
  const hosts: string[] = [];
  for (let turn = 0; turn < turns; turn += 1) hosts.push(await ask());
  const bills = simulator.calls().flatMap(({ billed }) => billed?.bill ?? []);
  const sum = (of: (bill: (typeof bills)[number]) => number): number =>
    bills.reduce((total, bill) => total + of(bill), 0);
  return {
    switches: hosts.filter((host, turn) => turn > 0 && host !== hosts[turn - 1]).length,
    readShare: sum(({ readTokens }) => readTokens) / sum(({ totalTokens }) => totalTokens),
  };
}

test("in 18 turns a pinned session switches hosts less often and reads clearly more", async () => {
  const seeds = [1, 2, 3, 4];
  const free = await Promise.all(seeds.map((seed) => play(false, seed)));
  const pinned = await Promise.all(seeds.map((seed) => play(true, seed)));
  expect(switchesOf(pinned)).toBeLessThan(switchesOf(free) - 3);
  expect(shareOf(pinned)).toBeGreaterThan(shareOf(free) + 0.1);
});

function shareOf(told: readonly Told[]): number {
  return mean(told.map(({ readShare }) => readShare));
}

function switchesOf(told: readonly Told[]): number {
  return mean(told.map(({ switches }) => switches));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const steady: SimulatorOptions = { seed: 1, openrouter: { leavesSticky: 0, passesOver: 0 } };

test("a pinned session stays where nothing drives it away", async () => {
  const { ask } = await openTalk(true, steady);
  const first = await ask();
  for (let turn = 1; turn < 6; turn += 1) expect(await ask()).toBe(first);
});

test.each([
  ["rate limited", "rate-limited"],
  ["server error", "server-error"],
  ["overloaded", "overloaded"],
] as const)("after a failure that is %s the session asks for no host", async (kind, failure) => {
  const { simulator, ask, wishes } = await openTalk(true, steady);
  const home = await ask();
  simulator.fault({ kind });
  expect(await ask()).toBe(failure);
  const next = await ask();
  await ask();
  expect(wishes).toEqual([
    null,
    { order: [home], allow_fallbacks: true },
    null,
    { order: [next], allow_fallbacks: true },
  ]);
});

test("where the host is busy the router goes on to another one, and the session stays there", async () => {
  const { simulator, ask } = await openTalk(true, steady);
  const home = await ask();
  simulator.fault({ kind: "rate limited", host: home });
  const next = await ask();
  expect([next === home, await ask()]).toEqual([false, next]);
  expect(simulator.calls().map(({ fault }) => fault)).toEqual([
    null,
    `rate limited at ${home}`,
    null,
  ]);
});
