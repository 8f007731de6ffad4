// Goal: sessions of one agent learn together how far estimates are off; another agent's content is its own.
// Method: an engine with a provider that bills a token for every three bytes sent.
import { expect, onTestFinished, test } from "vitest";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { bodyText } from "../../src/core/wire/encoded-request.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { createEngine } from "../../src/engine/session/create-engine.ts";
import type { Reached } from "../../src/engine/session/engine-deps.ts";

test("a new session starts with the factor of its agent, and not with that of another", async () => {
  let agent = "coder";
  const engine = createEngine(
    async () => ({ model: "claude-sonnet-4-6", agent, options: { stream: false } }),
    {
      ledger: await openLedger(":memory:"),
      reach: () => ({ protocol: anthropicMessages, provider: { send: billByLength } }),
      counter: cheapCounter,
    },
  );
  onTestFinished(() => engine.close());
  const calibrationAfter = async (id: string, turns: number) => {
    const session = await engine.open({ id });
    for (let turn = 0; turn < turns; turn += 1) {
      // Turns of one session follow each other.
      // oxlint-disable-next-line no-await-in-loop
      await session.run(`Turn ${turn}: ${"what does it say now? ".repeat(40)}`).result;
    }
    return session.session.sizes.calibration;
  };
  const first = await calibrationAfter("first", 8);
  expect(first.learned).toBe(8);
  expect(first.factor).toBeGreaterThan(1.1);
  expect((await calibrationAfter("second", 1)).learned).toBeGreaterThanOrEqual(8);
  agent = "writer";
  expect(await calibrationAfter("third", 1)).toMatchObject({ factor: 1, learned: 1 });
});

const billByLength: Reached["provider"]["send"] = async ({ request }) => {
  const input_tokens = Math.round(bodyText(request.pieces).length / 3);
  const reply = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-6",
    content: [{ type: "text", text: "It says the same." }],
    stop_reason: "end_turn",
    usage: { input_tokens, output_tokens: 5 },
  };
  return {
    attempts: [],
    startMs: 0,
    endMs: 0,
    firstByteMs: null,
    status: 200,
    requestId: null,
    headers: {},
    outcome: anthropicMessages.decode(JSON.stringify(reply)),
  };
};
