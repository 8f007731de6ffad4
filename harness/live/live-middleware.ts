// Plays a live session of the Vercel AI SDK through our middleware on the simulator, and breaks it before its last turn if asked to.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  generateText,
  isStepCount,
  jsonSchema,
  tool,
  wrapLanguageModel,
  type ModelMessage,
  type ToolSet,
} from "ai";
import { noUsage } from "../../src/core/message/usage.ts";
import { strataMiddleware } from "../../src/integrations/ai-sdk/index.ts";
import { createScripted, createSimulator, type Simulator } from "../../src/simulator/index.ts";
import { liveSchema, losesAll } from "./live-engine.ts";
import {
  plantedBeta,
  type LiveBreak,
  type LiveCall,
  type LiveRun,
  type LiveTalk,
  type LiveTool,
} from "./live-talk.ts";
import { plantedKey } from "../planted-key.ts";

export async function playMiddleware(talk: LiveTalk, broken: LiveBreak | null): Promise<LiveRun> {
  const simulator = createSimulator({
    seed: 1,
    clock: "virtual",
    model: createScripted(talk.turns.flatMap(({ replies }) => replies)),
  });
  const calls: LiveCall[] = [];
  const middleware = strataMiddleware({
    policy: talk.policy,
    now: () => simulator.clock.now(),
    onCall: ({ entry, miss }) => void calls.push({ usage: entry.usage ?? noUsage, miss }),
    onProblem: (problem) => {
      throw problem;
    },
  });
  const modelOf = (name: string) =>
    wrapLanguageModel({ model: openModel(talk.api, name, simulator), middleware });
  let messages: ModelMessage[] = [];
  let planted = -1;
  let sent: LiveBreak | null = null;
  for (const [index, { afterMs, text, toolResult }] of talk.turns.entries()) {
    await simulator.clock.advance(afterMs);
    if (index === talk.turns.length - 1) {
      planted = calls.length;
      sent = broken;
      if (broken !== null && losesAll(broken)) simulator.billing.clear();
      await simulator.clock.advance(broken?.pauseMs ?? 0);
    }
    const firstText = sent?.firstText ?? null;
    if (firstText !== null) messages = messages.with(0, { role: "user", content: firstText });
    messages.push({ role: "user", content: text });
    const answer = async (): Promise<string> => {
      await simulator.clock.advance(2000);
      return toolResult;
    };
    const { responseMessages } = await generateText({
      model: modelOf(sent?.model ?? talk.model),
      instructions: sent?.system ?? talk.system,
      tools: toTools(sent?.tools ?? talk.tools, answer),
      messages,
      maxRetries: 0,
      stopWhen: isStepCount(10),
      ...settingsOf(sent),
    });
    messages.push(...responseMessages);
  }
  await middleware.close();
  return { calls, planted, headBytes: 0 };
}

function openModel(api: LiveTalk["api"], model: string, { fetch }: Simulator) {
  const settings = { baseURL: "http://localhost/v1", apiKey: plantedKey, fetch };
  switch (api) {
    case "anthropic-messages":
      return createAnthropic(settings)(model);
    case "openai-responses":
      return createOpenAI(settings)(model);
    case "openai-chat":
      return createOpenAI(settings).chat(model);
  }
}

function toTools(tools: readonly LiveTool[], execute: () => Promise<string>): ToolSet {
  const inputSchema = jsonSchema<{ path: string }>(liveSchema);
  return Object.fromEntries(
    tools.map(({ name, description }) => [name, tool({ description, inputSchema, execute })]),
  );
}

const effort = {
  providerOptions: { anthropic: { effort: "low" }, openai: { reasoningEffort: "low" } },
};

function settingsOf(broken: LiveBreak | null) {
  if (broken?.kind === "tool choice") return { toolChoice: "none" } as const;
  if (broken?.kind === "effort") return effort;
  return broken?.kind === "beta header" ? { headers: { "anthropic-beta": plantedBeta } } : {};
}
