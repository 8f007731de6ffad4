// Goal: a prompt is counted by its provider where the estimate may be on the wrong side of a limit, and only there.
// Method: what arrives at the simulator's counting address, while an agent's history grows towards its limit.
import { expect, test } from "vitest";
import { asksForSummary } from "../../src/simulator/behaviours/summariser.ts";
import { createScripted, createSummariser, type ScriptStep } from "../../src/simulator/index.ts";
import { serveSimulator, type SeenRequest, type Served } from "../../torture/engine/place.ts";
import { eventsOf, makePlace, plantedKey, start, type Place } from "./test-kit.ts";
import { onTestFinished } from "vitest";

const configOf = (url: string, counter: string): string => `
context_optimization:
  compaction: { enabled: true, compact_at_pct: 0.5, tail_keep_tokens: 2000, early: { enabled: false } }
  token_counter: ${counter}
models: { default: claude-sonnet-4-6, override: { claude-sonnet-4-6: { window: 60000, maxOutput: 2000 } } }
providers: { anthropic: { base_url: "${url}", api_key: ${plantedKey} } }
`;

interface Scene {
  readonly place: Place;
  readonly served: Served;
  readonly asked: string[];
}

async function setUp(counter: string, onCount: () => Response | void = () => {}): Promise<Scene> {
  const place = makePlace();
  const asked: string[] = [];
  const steps: readonly ScriptStep[] = [
    { when: asksForSummary, reply: createSummariser(), times: "always" },
    { text: "Yes.", times: "always" },
  ];
  const onRequest = ({ path, body }: SeenRequest): Response | void => {
    const isSummary = body.includes("summary of this conversation") || /summari/i.test(body);
    const kind = path.endsWith("/count_tokens") ? "count" : isSummary ? "summary" : "call";
    asked.push(kind);
    return kind === "count" ? onCount() : undefined;
  };
  const served = await serveSimulator({ model: createScripted(steps) }, onRequest);
  onTestFinished(() => served.close());
  place.configure(configOf(served.url, counter));
  return { place, served, asked };
}

const words = (tokens: number): string => "look at the parser ".repeat(Math.round(tokens / 4));

test("a prompt far from every limit is estimated; one that may be over it is counted", async () => {
  const { place, asked } = await setUp("{ enabled: true }");
  const started = await start(place);
  const session = await started.engine.open({ id: "s" });
  await session.run("Hello.").result;
  expect(asked).toEqual(["call"]);
  await session.run(words(24_000)).result;
  expect(asked.slice(1, 2)).toEqual(["count"]);
  const events = await eventsOf(started, "s");
  const told = events.flatMap((event) =>
    event.type === "llm.call_started" ? [event.payload.estimated_input_tokens] : [],
  );
  const billed = events.flatMap((event) =>
    event.type === "llm.call_completed"
      ? [
          event.payload.input_tokens +
            event.payload.cached_input_tokens +
            event.payload.cache_creation_input_tokens,
        ]
      : [],
  );
  expect(told.at(-1)).toBe(billed.at(-1));
});

test("what cannot be counted is estimated, and no turn fails of it", async () => {
  const { place, asked } = await setUp(
    "{ enabled: true }",
    () => new Response("{}", { status: 500 }),
  );
  const { engine } = await start(place);
  const session = await engine.open();
  for (let turn = 0; turn < 5; turn += 1) {
    expect((await session.run(words(9_000)).result).end).toBe("done");
  }
  expect(asked.filter((kind) => kind === "count").length).toBeGreaterThan(0);
});

test("switched off, nobody is asked; a change holds from the next call on", async () => {
  const { place, asked, served } = await setUp("{ enabled: false }");
  const { engine } = await start(place);
  const session = await engine.open();
  await session.run(words(24_000)).result;
  expect(asked).not.toContain("count");
  place.configure(configOf(served.url, "{ enabled: true }"));
  await (await engine.open()).run(words(24_000)).result;
  expect(asked).toContain("count");
});
