// Sealing a whole conversation, and one more message. The cost of a call must depend only on new messages.
import { createConversation } from "../harness/conversation.ts";
import { median } from "../harness/measure.ts";
import { atMost, below, type Experiment } from "../harness/report.ts";
import { buildFoundation } from "../src/core/assembly/foundation.ts";
import { appendMessages, openThread, type Thread } from "../src/core/assembly/thread.ts";
import type { Message } from "../src/core/message/message.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { loadO200k } from "../src/core/tokens/o200k/counter.ts";
import { createTokenCounter } from "../src/core/tokens/token-counter.ts";
import { openaiResponses } from "../src/core/wire/openai/responses/index.ts";

const stepsPerRound = 100;
const rounds = 7;

export const experiment: Experiment = {
  summary: "sealing (hash, count, wire bytes) of 1,000 messages, and of one more",
  async run({ progress }) {
    const { facts: model } = resolveModel("gpt-6.1-sol");
    const counter = createTokenCounter(await loadO200k(), model.tokenizer);
    const spelling = openaiResponses.spelling(model);
    const empty = openThread(buildFoundation({ tools: [], system: [], spelling, counter, model }));

    const thousand = createConversation(1_000, 1);
    const whole1000 = thousand.reduce(extend, empty);
    let at1000 = whole1000;
    let at10000 = createConversation(10_000, 2).reduce(extend, empty);
    // Each appended message is new to the process, as in a real session.
    const fresh = createConversation(stepsPerRound * rounds * 2, 3);

    const wholeMs: number[] = [];
    const stepMs: Record<"at1000" | "at10000", number[]> = { at1000: [], at10000: [] };
    for (let round = 0; round < rounds; round += 1) {
      progress(`round ${round + 1} of ${rounds}`);
      wholeMs.push(time(() => thousand.reduce(extend, empty)));
      for (let step = 0; step < stepsPerRound; step += 1) {
        const place = (round * stepsPerRound + step) * 2;
        const [first, second] = [fresh[place], fresh[place + 1]];
        if (first === undefined || second === undefined) continue;
        // The order alternates, over messages of every kind.
        const [left, right] = step % 4 < 2 ? [first, second] : [second, first];
        stepMs.at1000.push(time(() => (at1000 = extend(at1000, left))));
        stepMs.at10000.push(time(() => (at10000 = extend(at10000, right))));
      }
    }
    const [whole, step1000, step10000] = [wholeMs, stepMs.at1000, stepMs.at10000].map(median);
    return {
      figures: {
        "conversation tokens": whole1000.end.tokens,
        "conversation bytes": whole1000.bytes.length,
        "whole conversation ms": whole ?? null,
        "one message at 1,000 ms": step1000 ?? null,
        "one message at 10,000 ms": step10000 ?? null,
      },
      checks: [
        below("incremental share", (step1000 ?? NaN) / (whole ?? NaN), 0.01),
        atMost("growth", (step10000 ?? NaN) / (step1000 ?? NaN), 1.5),
      ],
    };
  },
};

function extend(thread: Thread, message: Message): Thread {
  return appendMessages(thread, [message]);
}

function time(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
