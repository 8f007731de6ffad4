// An agent of LangChain, with `strataMiddleware` or without it: unmarked, or with LangChain's own middleware for caching.
import { ChatAnthropic } from "@langchain/anthropic";
import type { BaseMessage } from "@langchain/core/messages";
import {
  anthropicPromptCachingMiddleware,
  createAgent,
  tool,
  type AgentMiddleware,
} from "langchain";
import { plantedKey } from "../../harness/planted-key.ts";
import { strataMiddleware } from "../../src/integrations/langchain/index.ts";
import { describeTool, models, rules, toolNames, toolSchema } from "./play.ts";
import type { Integration, Play, Stage } from "./play.ts";

export const langchain: Integration = {
  name: "LangChain",
  plays: { unmarked: playAgent(false), marked: playAgent(true) },
};

/** `isMarked`: as LangChain's documents recommend. */
function playAgent(isMarked: boolean): Play {
  return async (stage) => {
    const { fetch, workload } = stage;
    const model = new ChatAnthropic({
      model: models.anthropic,
      anthropicApiKey: plantedKey,
      maxTokens: 4000,
      maxRetries: 0,
      clientOptions: { baseURL: "http://localhost", fetch },
    });
    const agent = createAgent({
      model,
      tools: toolNames.map((name) =>
        tool(() => stage.useTool(), {
          name,
          description: describeTool(name),
          schema: toolSchema,
        }),
      ),
      systemPrompt: rules,
      middleware: [
        ...(isMarked ? [theirMiddleware()] : []),
        ...(stage.withStrata ? [openMiddleware(stage)] : []),
      ],
    });
    let messages: BaseMessage[] = [];
    for (const { afterSeconds, say } of workload.turns) {
      await stage.pause(afterSeconds);
      const asked = { messages: [...messages, { role: "user", content: say }] };
      ({ messages } = await agent.invoke(asked, { recursionLimit: 10_000 }));
    }
  };
}

/** Its types do not hold with `exactOptionalPropertyTypes`. */
function theirMiddleware(): AgentMiddleware {
  const own: object = anthropicPromptCachingMiddleware();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a middleware of LangChain's own
  return own as AgentMiddleware;
}

function openMiddleware({ now, toClose }: Stage): ReturnType<typeof strataMiddleware> {
  const strata = strataMiddleware({
    vendor: "anthropic",
    now,
    waitMsMax: 30_000,
    onProblem: (problem) => {
      throw new Error(problem);
    },
  });
  toClose.push(() => strata.close());
  return strata;
}
