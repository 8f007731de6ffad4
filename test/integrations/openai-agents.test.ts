// Goal: runs of OpenAI's Agents SDK are recorded by wrapping its client. Method: the real package drives the simulator.
import { join } from "node:path";
import type * as Agents from "@openai/agents";
import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { plantedOpenaiKey } from "../../harness/planted-key.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { openWatchedFetch, withStrata } from "../../src/integrations/sdk/index.ts";
import { createScripted, createSimulator } from "../../src/simulator/index.ts";
import { newFolder } from "../api/kit.ts";
import { gpt, manual } from "../simulator-clients/serve.ts";

test("a run is one conversation in the ledger, with each call, its cost and what was read", async () => {
  const { Agent, OpenAIProvider, Runner, tool } = await importAgents();
  const simulator = createSimulator({
    seed: 1,
    model: createScripted([
      { toolCalls: [{ name: "look", input: { path: "a.ts" } }] },
      { expect: { toolResult: "three lines" }, text: "It is short." },
    ]),
  });
  const store = join(newFolder(), "ledger.db");
  const watched = openWatchedFetch({ store, vendor: "openai", waitMsMax: 30_000 });
  const client = new OpenAI({
    apiKey: plantedOpenaiKey,
    baseURL: "http://localhost/v1",
    fetch: simulator.fetch,
    maxRetries: 0,
  });
  const modelProvider = new OpenAIProvider({
    openAIClient: withStrata(client, watched),
    useResponses: true,
  });
  const agent = new Agent({
    name: "reader",
    instructions: manual,
    model: gpt,
    tools: [
      tool({
        name: "look",
        description: "looks at a file",
        parameters: {
          type: "object",
          properties: { path: { type: "string" } },
          required: [],
          additionalProperties: true,
        },
        strict: false,
        execute: () => "three lines",
      }),
    ],
  });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const { finalOutput } = await runner.run(agent, "How long is a.ts?");
  expect(finalOutput).toBe("It is short.");
  await watched.close();
  const ledger = await openLedger(store);
  onTestFinished(() => ledger.close());
  const sessions = await ledger.listSessions({ origin: "gateway" });
  expect(sessions).toHaveLength(1);
  const calls = await ledger.readGatewayCalls(sessions[0]?.id ?? "");
  expect(calls.map(({ usage }) => (usage?.cacheReadTokens ?? 0) > 0)).toEqual([false, true]);
  expect(calls.every(({ costPicoUsd }) => (costPicoUsd ?? 0n) > 0n)).toBe(true);
});

/** It listens for rejections of the whole process from then on. */
async function importAgents(): Promise<typeof Agents> {
  const before = process.listeners("unhandledRejection");
  onTestFinished(() => {
    for (const each of process.listeners("unhandledRejection")) {
      if (!before.includes(each)) process.off("unhandledRejection", each);
    }
  });
  return import("@openai/agents");
}
