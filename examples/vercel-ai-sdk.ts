// The Vercel AI SDK with our middleware: the application stays as it is, and one line wraps its model.
// In your project, import from "strata-context" and "strata-context/ai-sdk". Without a key this runs on the simulator:
//
//   node examples/vercel-ai-sdk.ts
import { createAnthropic } from "@ai-sdk/anthropic";
import {
  generateText,
  isStepCount,
  jsonSchema,
  tool,
  wrapLanguageModel,
  type LanguageModel,
} from "ai";
import { formatUsd, openLedger, type Ledger } from "../src/index.ts";
import { strataMiddleware } from "../src/integrations/ai-sdk/index.ts";
import { connect, weatherIn } from "./connect.ts";

type Wrappable = Parameters<typeof wrapLanguageModel>[0]["model"];

export function withStrata(model: Wrappable, ledger: Ledger): LanguageModel {
  const middleware = strataMiddleware({
    session: { ledger, id: "weather" },
    onCall: ({ entry, plan }) => {
      const cost = formatUsd(entry.costPicoUsd ?? 0n);
      console.log(`call ${entry.number}: ${plan.markers.length} markers, ${cost}`);
    },
  });
  return wrapLanguageModel({ model, middleware });
}

export async function askModel(model: LanguageModel, question: string): Promise<string> {
  const { text } = await generateText({
    model,
    instructions:
      "You are a weather agent. " + "Name the city and the time you speak of. ".repeat(250),
    prompt: question,
    tools: {
      get_weather: tool({
        description: "The weather of a city",
        inputSchema: jsonSchema<{ city: string }>({
          type: "object",
          properties: { city: { type: "string" } },
        }),
        execute: (input) => weatherIn(JSON.stringify(input)),
      }),
    },
    stopWhen: isStepCount(5),
  });
  return text;
}

if (import.meta.main) {
  const { fetch, key } = connect("ANTHROPIC_API_KEY");
  const ledger = await openLedger(":memory:");
  const model = createAnthropic({ apiKey: key, fetch })("claude-sonnet-5-5");
  console.log(await askModel(withStrata(model, ledger), "How is the weather in Paris?"));
  await ledger.close();
}
