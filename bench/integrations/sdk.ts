// Programs with a loop of their own on the providers' SDKs, with `withStrata` around the client.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { plantedKey, plantedOpenaiKey } from "../../harness/planted-key.ts";
import { openWatchedFetch, withStrata, type SdkClient } from "../../src/integrations/sdk/index.ts";
import {
  describeTool,
  models,
  rules,
  toolNames,
  toolSchema,
  type Integration,
  type Play,
  type Stage,
} from "./play.ts";

export const anthropicSdk: Integration = {
  name: "Anthropic SDK",
  plays: { unmarked: playAnthropic({}), marked: playAnthropic({ type: "ephemeral" }) },
};

export const openaiSdk: Integration = {
  name: "OpenAI SDK",
  plays: { chat: playChat, responses: playResponses },
};

function watched<Client extends SdkClient>(client: Client, vendor: string, stage: Stage): Client {
  if (!stage.withStrata) return client;
  const { now } = stage;
  const fetch = openWatchedFetch({ vendor, now, onProblem: fail });
  stage.toClose.push(() => fetch.close());
  return withStrata(client, fetch);
}

function fail(problem: string): never {
  throw new Error(problem);
}

/** `marker`: on the whole request, as the vendor recommends to begin with. */
function playAnthropic(marker: Partial<Anthropic.CacheControlEphemeral>): Play {
  return async (stage) => {
    const { fetch, workload } = stage;
    const options = { apiKey: plantedKey, baseURL: "http://localhost", fetch, maxRetries: 0 };
    const client = watched(new Anthropic(options), "anthropic", stage);
    const tools = toolNames.map((name): Anthropic.Tool => ({
      name,
      description: describeTool(name),
      input_schema: toolSchema,
    }));
    const messages: Anthropic.MessageParam[] = [];
    for (const { afterSeconds, say } of workload.turns) {
      await stage.pause(afterSeconds);
      messages.push({ role: "user", content: say });
      for (;;) {
        const reply = await client.messages
          .stream({
            model: models.anthropic,
            max_tokens: 4000,
            system: rules,
            tools,
            messages,
            ...(marker.type === undefined ? {} : { cache_control: { type: marker.type } }),
          })
          .finalMessage();
        messages.push({ role: "assistant", content: reply.content });
        const uses = reply.content.filter((block) => block.type === "tool_use");
        if (uses.length === 0) break;
        const results: Anthropic.ToolResultBlockParam[] = [];
        for (const { id } of uses) {
          const content = await stage.useTool();
          results.push({ type: "tool_result", tool_use_id: id, content });
        }
        messages.push({ role: "user", content: results });
      }
    }
  };
}

function openaiClient(stage: Stage): OpenAI {
  const { fetch } = stage;
  const baseURL = "http://localhost/v1";
  const options = { apiKey: plantedOpenaiKey, baseURL, fetch, maxRetries: 0 };
  return watched(new OpenAI(options), "openai", stage);
}

async function playChat(stage: Stage): Promise<void> {
  const client = openaiClient(stage);
  const tools = toolNames.map((name): OpenAI.ChatCompletionTool => ({
    type: "function",
    function: { name, description: describeTool(name), parameters: toolSchema },
  }));
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "system", content: rules }];
  for (const { afterSeconds, say } of stage.workload.turns) {
    await stage.pause(afterSeconds);
    messages.push({ role: "user", content: say });
    for (;;) {
      const reply = await client.chat.completions.create({ model: models.openai, messages, tools });
      const said = reply.choices[0]?.message;
      if (said === undefined) throw new Error("a reply says nothing");
      messages.push(said);
      if (said.tool_calls === undefined || said.tool_calls.length === 0) break;
      for (const { id } of said.tool_calls) {
        messages.push({ role: "tool", tool_call_id: id, content: await stage.useTool() });
      }
    }
  }
}

async function playResponses(stage: Stage): Promise<void> {
  const client = openaiClient(stage);
  const tools = toolNames.map((name): OpenAI.Responses.FunctionTool => ({
    type: "function",
    name,
    description: describeTool(name),
    parameters: toolSchema,
    strict: false,
  }));
  const input: OpenAI.Responses.ResponseInput = [];
  for (const { afterSeconds, say } of stage.workload.turns) {
    await stage.pause(afterSeconds);
    input.push({ role: "user", content: say });
    for (;;) {
      const { output } = await client.responses.create({
        model: models.openai,
        instructions: rules,
        input,
        tools,
        store: false,
      });
      for (const item of output) {
        if (item.type === "message" || item.type === "function_call") input.push(item);
      }
      const uses = output.filter((item) => item.type === "function_call");
      if (uses.length === 0) break;
      for (const { call_id: id } of uses) {
        const result = await stage.useTool();
        input.push({ type: "function_call_output", call_id: id, output: result });
      }
    }
  }
}
