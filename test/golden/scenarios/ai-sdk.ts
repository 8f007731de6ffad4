// Applications of the Vercel AI SDK with our middleware around their model.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  generateText,
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  wrapLanguageModel,
  type ModelMessage,
} from "ai";
import { plantedKey, strataMiddleware } from "../kit.ts";
import { asks, look, script } from "../replies.ts";
import type { Scenarios } from "../scenario.ts";
import type { Stage } from "../stage.ts";
import { toCall } from "../watch-turn.ts";
import { rules } from "../world.ts";

const talk = script(
  asks("Looking.", look("ci.yml")),
  { text: "It is red because of line 3." },
  { text: "You are welcome." },
);

type Wrappable = Parameters<typeof wrapLanguageModel>[0]["model"];

function modelOf({ side, url }: Stage): Wrappable {
  const options = { baseURL: `${url}/v1`, apiKey: plantedKey };
  switch (side.name) {
    case "anthropic-messages":
      return createAnthropic(options)(side.model);
    case "openai-chat":
      return createOpenAI(options).chat(side.model);
    case "openai-responses":
      return createOpenAI(options)(side.model);
  }
}

const tools = {
  look: tool({
    description: "Looks at a file.",
    inputSchema: jsonSchema<{ path: string }>({
      type: "object",
      properties: { path: { type: "string" } },
    }),
    execute: () => "red: line 3",
  }),
};

async function play(stage: Stage, isStreamed: boolean): Promise<void> {
  const { ledger, events, end } = await stage.start();
  const middleware = strataMiddleware({
    session: { ledger, id: "golden", agent: "ana", events },
    now: stage.now,
    onCall: ({ entry, lostMarkers, plan }) =>
      void stage.results.push({ entry: toCall(entry), lostMarkers, markers: plan.markers.length }),
    onProblem: (problem) => {
      throw problem;
    },
  });
  const model = wrapLanguageModel({ model: modelOf(stage), middleware });
  const messages: ModelMessage[] = [];
  for (const text of ["Why is CI red?", "Thank you."]) {
    messages.push({ role: "user", content: text });
    const asked = { model, tools, instructions: rules, messages, stopWhen: isStepCount(5) };
    const settings = { ...asked, maxRetries: 0 };
    if (isStreamed) {
      const result = streamText(settings);
      const parts: string[] = [];
      for await (const part of result.fullStream) parts.push(part.type);
      stage.parts.push({ parts, text: await result.text });
      messages.push(...(await result.responseMessages));
    } else {
      const result = await generateText(settings);
      stage.parts.push({ text: result.text });
      messages.push(...result.responseMessages);
    }
    await stage.pass(20_000);
  }
  await middleware.close();
  await end();
}

export const aiSdk: Scenarios = {
  "ai-sdk-whole": { answer: talk, play: (stage) => play(stage, false) },
  "ai-sdk-streamed": { answer: talk, play: (stage) => play(stage, true) },
};
