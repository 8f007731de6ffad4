// An agent loop of your own on the Anthropic SDK: Strata prepares each call and books its reply.
// In your project, import from "strata-context". Without a key this runs on the simulator:
//
//   node examples/anthropic-sdk.ts
import Anthropic from "@anthropic-ai/sdk";
import {
  anthropicMessages,
  cheapCounter,
  createEngine,
  formatUsd,
  offerTools,
  openLedger,
  sendsNothing,
  toToolDefinition,
  type ToolAnswer,
} from "../src/index.ts";
import { connect, weatherIn } from "./connect.ts";

export async function askClaude(client: Anthropic, question: string): Promise<string> {
  const ledger = await openLedger(":memory:");
  const weather = toToolDefinition({
    name: "get_weather",
    description: "The weather of a city",
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  });
  const engine = createEngine(
    { model: "claude-sonnet-5-5", options: { stream: false } },
    {
      ledger,
      counter: cheapCounter,
      // The SDK sends everything. Give a provider instead, and long histories get written summaries.
      reach: () => ({ protocol: anthropicMessages, provider: sendsNothing }),
      world: async () => ({
        context: async () => ({ parts: { workspaceRules: "You are a weather agent." } }),
        tools: offerTools([weather]),
      }),
    },
  );
  const session = await engine.open();

  let input: string | readonly ToolAnswer[] = question;
  for (;;) {
    const call = await session.prepare(input);
    const body = call.toObject(anthropicMessages);
    const reply = await client.messages
      .create({ ...body, stream: false }, { headers: call.headers })
      .catch((error: unknown) => error);
    const { entry, toolUses, run } = await session.record(call, reply);
    console.log(`call ${entry.number}: ${entry.status}, ${formatUsd(entry.costPicoUsd ?? 0n)}`);
    if (run !== null) {
      await engine.close();
      await ledger.close();
      const said = entry.reply?.content.find((block) => block.type === "text");
      return said?.text ?? `${run.end}: ${entry.failure?.detail ?? "nothing was said"}`;
    }
    input = toolUses.map(({ id, inputJson }) => ({ toolUseId: id, content: weatherIn(inputJson) }));
  }
}

if (import.meta.main) {
  const { fetch, key } = connect("ANTHROPIC_API_KEY");
  const client = new Anthropic({ apiKey: key, fetch });
  console.log(await askClaude(client, "How is the weather in Paris?"));
}
