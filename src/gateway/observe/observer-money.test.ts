// Goal: the observer's dollars are the provider's bill. Method: simulated calls of every protocol, whole and streamed, cut at random.
import { expect, test } from "vitest";
import { costOfBill } from "../../../harness/cost-of-bill.ts";
import { courseWires, openCourse, prepare, startMs } from "../../../harness/wire-course.ts";
import { plantedKey } from "../../../harness/planted-key.ts";
import { createRandom } from "../../../harness/random-message.ts";
import { appendMessages } from "../../core/assembly/thread.ts";
import type { Message } from "../../core/message/message.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { toEndpoint } from "../../core/wire/access.ts";
import { bodyText } from "../../core/wire/encoded-request.ts";
import { startWatching, textOf } from "./test-kit.ts";

test.each(courseWires.map((wire) => [wire.protocol.name, wire] as const))(
  "calls of %s cost what the provider bills, to the pico-dollar, whole and streamed",
  async (_name, wire) => {
    const { protocol, modelId } = wire;
    const { facts } = resolveModel(modelId);
    const { credentials } = toEndpoint(protocol.access, { apiKey: plantedKey });
    const random = createRandom(7);
    const watching = startWatching();
    let billed = 0n;
    for (let run = 0; run < 6; run += 1) {
      const course = openCourse(wire, textOf(1500 + run * 300, `rule ${run}`), []);
      let current: readonly Message[] = [user(`Begin ${run}. ${textOf(400)}`)];
      for (let turn = 0; turn < 8; turn += 1) {
        course.next = {
          parts: [{ kind: "text", text: `Answer ${turn}. ${textOf(40 + turn)}` }],
          stop: "end",
        };
        const call = prepare(course, current);
        const isStream = random() < 0.5;
        const request = call.encode(isStream);
        const simulator = course.whole;
        const base = new URL(protocol.access.baseUrl).pathname.replace(/\/$/, "");
        const seen = await watching.ask(simulator, {
          path: `${base}${request.path}`,
          headers: { ...request.headers, ...credentials },
          body: bodyText(request.pieces),
          upstream: facts.provider,
          account: `run ${run}`,
          pieceBytes: 1 + Math.floor(random() * 700),
          atMs: turn * 20_000,
        });
        const last = simulator.calls().at(-1);
        const owed = costOfBill(last, facts, startMs);
        expect(seen).toMatchObject({ status: "complete", costPicoUsd: owed, notes: [] });
        expect(seen.conversation.callNumber).toBe(turn + 1);
        // Where a provider says nothing about its cache, there is no verdict.
        const verdict = turn === 0 ? "first call" : "no miss";
        expect(seen.explanation?.cause).toBe(seen.reportsCache ? verdict : undefined);
        billed += owed;
        current = [user(`Go on ${turn}. ${textOf(60)}`)];
        course.thread = appendMessages(call.assembly.thread, [
          {
            role: "assistant",
            content: [{ type: "text", text: `Answer ${turn}. ${textOf(40 + turn)}` }],
          },
        ]);
      }
    }
    const seen = watching.calls.reduce((sum, { costPicoUsd }) => sum + (costPicoUsd ?? 0n), 0n);
    expect(watching.calls).toHaveLength(48);
    expect(seen).toBe(billed);
  },
);

function user(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

test.each([
  ["flex, at half the price", "flex", 10_000_000n],
  ["the usual service", "default", 20_000_000n],
  ["a tier whose price is not known", "priority", null],
])("a call costs what its service costs: %s", (_name, tier, expected) => {
  const { pass } = startWatching();
  const usage = { prompt_tokens: 5, completion_tokens: 1 };
  const choices = [{ index: 0, message: { role: "assistant", content: "Hi." } }];
  const call = pass({
    path: "/v1/chat/completions",
    upstream: "openai",
    body: { model: "gpt-6.1-sol", messages: [{ role: "user", content: "Hi." }] },
    answer: JSON.stringify({ id: "c", choices, usage, service_tier: tier }),
  });
  // 5 × $2 + 1 × $10 per million.
  expect(call?.costPicoUsd).toBe(expected);
  expect(call?.plainCostPicoUsd).toBe(expected);
  expect(call?.serviceTier).toBe(tier === "default" ? undefined : tier);
});
