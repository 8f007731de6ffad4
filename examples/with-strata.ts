// A loop of your own on the Anthropic SDK that stays as it is: one line wraps its client.
// In your project, import from "strata-context" and "strata-context/sdk". Without a key this runs on the simulator:
//
//   node examples/with-strata.ts
import Anthropic from "@anthropic-ai/sdk";
import { formatUsd } from "../src/index.ts";
import { openWatchedFetch, withStrata } from "../src/integrations/sdk/index.ts";
import { connect, weatherIn } from "./connect.ts";

export async function askClaude(client: Anthropic, question: string): Promise<string> {
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: question }];
  for (;;) {
    const reply = await client.messages.create({
      model: "claude-sonnet-5-5",
      max_tokens: 1000,
      system: "You are a weather agent. " + "Name the city and the time you speak of. ".repeat(250),
      tools: [
        {
          name: "get_weather",
          description: "The weather of a city",
          input_schema: { type: "object", properties: { city: { type: "string" } } },
        },
      ],
      messages,
    });
    const uses = reply.content.filter((block) => block.type === "tool_use");
    if (uses.length === 0) return reply.content.find((block) => block.type === "text")?.text ?? "";
    messages.push({ role: "assistant", content: reply.content });
    messages.push({
      role: "user",
      content: uses.map(({ id, input }) => ({
        type: "tool_result" as const,
        tool_use_id: id,
        content: weatherIn(JSON.stringify(input)),
      })),
    });
  }
}

if (import.meta.main) {
  const { fetch, key } = connect("ANTHROPIC_API_KEY");
  await using watched = openWatchedFetch({
    onCall: ({ conversation, markers, usage, costPicoUsd }) => {
      const read = usage?.cacheReadTokens ?? 0;
      const cost = formatUsd(costPicoUsd ?? 0n);
      console.log(
        `call ${conversation.callNumber}: ${markers.length} markers, ${read} tokens read, ${cost}`,
      );
    },
  });
  const client = withStrata(new Anthropic({ apiKey: key, fetch }), watched);
  console.log(await askClaude(client, "How is the weather in Paris?"));
}
