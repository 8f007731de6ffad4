// Goal: an application with a loop of its own is told why a call read too little. Method: it sends the exact bytes to
// the simulator, where time passes and entries are lost; the events are looked at.
import { expect, test } from "vitest";
import type { PayloadOf } from "../../src/core/events/event.ts";
import { createEventBus } from "../../src/edge/events/event-bus.ts";
import { openWorld, type World } from "./test-kit.ts";

const talk = [{ text: "A word in reply. ".repeat(300), times: "always" as const }];

async function say(
  { post }: World,
  session: Awaited<ReturnType<World["engine"]["open"]>>,
  text: string,
): Promise<void> {
  const call = await session.prepare(text);
  await session.record(call, await post(call));
}

const question = `Why is CI red? ${"Look closely. ".repeat(400)}`;

test("a pause and a lost entry are told apart in an own loop", async () => {
  const misses: PayloadOf<"cache.miss">[] = [];
  const events = createEventBus({ onProblem: () => {} });
  events.subscribe((event) => {
    if (event.type === "cache.miss") misses.push(event.payload);
  });
  const world = await openWorld({
    script: talk,
    config: { policy: "tail-5m" },
    deps: { events },
  });
  const session = await world.engine.open({ id: "own" });
  for (const pauseMs of [1000, 60_000, 60_000]) {
    await world.simulator.clock.advance(pauseMs);
    await say(world, session, question);
  }
  await world.simulator.clock.advance(3_600_000);
  await say(world, session, question);
  world.simulator.billing.clear();
  await say(world, session, question);
  await events.close();
  expect(misses).toMatchObject([
    { cause: "lifetime expired", detail: "after 60 min", block_label: "user message 4" },
    { cause: "provider lost it", block_label: "user message 6" },
  ]);
});
