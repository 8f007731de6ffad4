// A runner of OpenAI's Agents SDK, with `withStrata` around its client or without it.
import { Agent, OpenAIProvider, Runner, tool, type AgentInputItem } from "@openai/agents";
import OpenAI from "openai";
import { plantedOpenaiKey } from "../../harness/planted-key.ts";
import { openWatchedFetch, withStrata } from "../../src/integrations/sdk/index.ts";
import { describeTool, models, rules, toolNames, toolSchema } from "./play.ts";
import type { Integration, Stage } from "./play.ts";

export const openaiAgents: Integration = {
  name: "OpenAI Agents",
  plays: { responses: playRunner },
};

async function playRunner(stage: Stage): Promise<void> {
  const { fetch, workload } = stage;
  const plain = new OpenAI({
    apiKey: plantedOpenaiKey,
    baseURL: "http://localhost/v1",
    fetch,
    maxRetries: 0,
  });
  const openAIClient = stage.withStrata ? watch(plain, stage) : plain;
  const modelProvider = new OpenAIProvider({ openAIClient, useResponses: true });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const agent = new Agent({
    name: "coder",
    instructions: rules,
    model: models.openai,
    modelSettings: { store: false },
    tools: toolNames.map((name) =>
      tool({
        name,
        description: describeTool(name),
        parameters: { ...toolSchema, required: [], additionalProperties: true },
        strict: false,
        execute: () => stage.useTool(),
      }),
    ),
  });
  let items: AgentInputItem[] = [];
  for (const { afterSeconds, say } of workload.turns) {
    await stage.pause(afterSeconds);
    const { history } = await runner.run(agent, [...items, { role: "user", content: say }], {
      maxTurns: 10_000,
    });
    items = history;
  }
}

function watch(client: OpenAI, { now, toClose }: Stage): OpenAI {
  const watched = openWatchedFetch({
    vendor: "openai",
    now,
    waitMsMax: 30_000,
    onProblem: (problem) => {
      throw new Error(problem);
    },
  });
  toClose.push(() => watched.close());
  return withStrata(client, watched);
}
