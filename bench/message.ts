// Sealing a whole conversation, and one more message. The cost of a call must depend only on new messages.
import { createConversation } from "../harness/conversation.ts";
import { median } from "../harness/measure.ts";
import { atMost, below, type Experiment } from "../harness/report.ts";
import type { Message } from "../src/core/message/message.ts";
import {
  appendSealed,
  emptyPrefix,
  sealMessage,
  type SealedPrefix,
} from "../src/core/message/seal-message.ts";
import { estimateTokens } from "../src/core/tokens/estimate.ts";
import { loadO200k } from "../src/core/tokens/o200k/counter.ts";
import { countMessage } from "../src/core/tokens/raw-count.ts";

const stepsPerRound = 100;
const rounds = 7;

export const experiment: Experiment = {
  summary: "sealing (hash, count, wire bytes) of 1,000 messages, and of one more",
  async run({ progress }) {
    const counter = await loadO200k();
    const sealing = {
      count: (message: Message) => estimateTokens(countMessage(message, counter), "o200k"),
    };
    const extend = (prefix: SealedPrefix, message: Message): SealedPrefix =>
      appendSealed(prefix, sealMessage(message, sealing));

    const thousand = createConversation(1_000, 1);
    const at1000 = thousand.reduce(extend, emptyPrefix);
    const at10000 = createConversation(10_000, 2).reduce(extend, emptyPrefix);
    // Each appended message is new to the process, as in a real session.
    const fresh = createConversation(stepsPerRound * rounds * 2, 3);

    const wholeMs: number[] = [];
    const stepMs: Record<"at1000" | "at10000", number[]> = { at1000: [], at10000: [] };
    for (let round = 0; round < rounds; round += 1) {
      progress(`round ${round + 1} of ${rounds}`);
      wholeMs.push(time(() => thousand.reduce(extend, emptyPrefix)));
      for (let step = 0; step < stepsPerRound; step += 1) {
        const place = (round * stepsPerRound + step) * 2;
        const [first, second] = [fresh[place], fresh[place + 1]];
        if (first === undefined || second === undefined) continue;
        // The order alternates, over messages of every kind.
        const [left, right] = step % 4 < 2 ? [first, second] : [second, first];
        stepMs.at1000.push(time(() => extend(at1000, left)));
        stepMs.at10000.push(time(() => extend(at10000, right)));
      }
    }
    const [whole, step1000, step10000] = [wholeMs, stepMs.at1000, stepMs.at10000].map(median);
    return {
      figures: {
        "conversation tokens": at1000.tokens,
        "conversation bytes": at1000.bytes,
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

function time(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
