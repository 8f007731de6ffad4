// The same on the OpenAI SDK, with streamed responses: what streams in is shown, and booked as a whole.
// In your project, import from "strata-context". Without a key this runs on the simulator:
//
//   node examples/openai-sdk.ts
import OpenAI from "openai";
import {
  cheapCounter,
  createEngine,
  offerTools,
  openaiResponses,
  openLedger,
  sendsNothing,
  toToolDefinition,
  type ToolAnswer,
} from "../src/index.ts";
import { connect, weatherIn } from "./connect.ts";

export async function askGpt(
  client: OpenAI,
  question: string,
  show: (text: string) => void,
): Promise<string> {
  const ledger = await openLedger(":memory:");
  const weather = toToolDefinition({
    name: "get_weather",
    description: "The weather of a city",
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  });
  const engine = createEngine(
    { model: "gpt-6.1-sol" },
    {
      ledger,
      counter: cheapCounter,
      reach: () => ({ protocol: openaiResponses, provider: sendsNothing }),
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
    const body = call.toObject(openaiResponses);
    const stream = await client.responses
      .create({ ...body, stream: true }, { headers: call.headers })
      .catch((error: unknown) => error);
    const { toolUses, run } = await session.record(call, stream, {
      onPart: (part) => {
        if (part.type === "text") show(part.text);
      },
    });
    if (run !== null) {
      await engine.close();
      await ledger.close();
      return run.end;
    }
    input = toolUses.map(({ id, inputJson }) => ({ toolUseId: id, content: weatherIn(inputJson) }));
  }
}

if (import.meta.main) {
  const { fetch, key } = connect("OPENAI_API_KEY");
  const client = new OpenAI({ apiKey: key, fetch });
  const end = await askGpt(client, "How is the weather in Paris?", (text) => {
    process.stdout.write(text);
  });
  console.log(`\n(${end})`);
}
