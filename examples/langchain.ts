// An agent of LangChain whose calls are marked and recorded by a middleware.
// In your project, import from "strata-context/langchain". Without a key this runs on the simulator:
//
//   node examples/langchain.ts
import { ChatAnthropic } from "@langchain/anthropic";
import { createAgent, tool } from "langchain";
import { strataMiddleware } from "../src/integrations/langchain/index.ts";
import { connect, weatherIn } from "./connect.ts";

export async function askAgent(
  model: ChatAnthropic,
  { store, question }: { readonly store: string; readonly question: string },
): Promise<string> {
  const strata = strataMiddleware({
    store,
    vendor: "anthropic",
    onCall: ({ conversation, usage }) =>
      console.log(`call ${conversation?.callNumber}: ${usage?.cacheReadTokens ?? 0} tokens read`),
  });
  const weather = tool((input) => weatherIn(JSON.stringify(input)), {
    name: "get_weather",
    description: "The weather of a city",
    schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  });
  const agent = createAgent({
    model,
    tools: [weather],
    systemPrompt: "You are a weather agent.",
    middleware: [strata],
  });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: question }] });
  await strata.close();
  return messages.at(-1)?.text ?? "";
}

if (import.meta.main) {
  const { fetch, key } = connect("ANTHROPIC_API_KEY");
  const model = new ChatAnthropic({
    model: "claude-sonnet-5-5",
    anthropicApiKey: key,
    clientOptions: { fetch },
  });
  console.log(
    await askAgent(model, { store: "strata.db", question: "How is the weather in Paris?" }),
  );
}
