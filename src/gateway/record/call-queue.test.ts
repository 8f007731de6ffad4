import { expect, test } from "vitest";
import { block, gatewayCall } from "../../../test/ledger/gateway-kit.ts";
import { createCallQueue, type CallQueue } from "./call-queue.ts";

const wide = { waitingCallsMax: 100, waitingBytesMax: 1e9 };

function filled(queue: CallQueue, count: number, blocks = 0): CallQueue {
  const addedBlocks = Array.from({ length: blocks }, (_, at) => block(`b${at}`));
  for (let number = 1; number <= count; number += 1) {
    queue.push(gatewayCall("a", number, { addedBlocks }));
  }
  return queue;
}

const idsOf = (calls: readonly { readonly id: string }[]): string =>
  calls.map(({ id }) => id).join(" ");

test("calls are taken oldest first, and again if they were not settled", () => {
  const queue = filled(createCallQueue(wide), 5);
  expect(idsOf(queue.take(3))).toBe("a-1 a-2 a-3");
  queue.giveBack();
  expect(idsOf(queue.take(2))).toBe("a-1 a-2");
  queue.settle();
  expect(idsOf(queue.take(9))).toBe("a-3 a-4 a-5");
  expect(queue.count).toBe(3);
});

test("a batch holds few blocks, but at least one call", () => {
  const queue = filled(createCallQueue(wide), 4, 2000);
  expect(idsOf(queue.take(9))).toBe("a-1 a-2");
  queue.settle();
  queue.giveUp();
  expect(idsOf(filled(queue, 2, 6000).take(9))).toBe("a-1");
});

test("the oldest give way to the newest, by number and by size, except while they are written", () => {
  const queue = filled(createCallQueue({ ...wide, waitingCallsMax: 3 }), 3);
  queue.take(1);
  expect(idsOf(queue.push(gatewayCall("a", 4)))).toBe("a-2");
  queue.settle();
  expect(idsOf(queue.take(9))).toBe("a-3 a-4");

  // Each is about 27 KB.
  const small = filled(createCallQueue({ ...wide, waitingBytesMax: 60_000 }), 2, 100);
  const addedBlocks = Array.from({ length: 100 }, (_, at) => block(`c${at}`));
  expect(idsOf(small.push(gatewayCall("b", 1, { addedBlocks })))).toBe("a-1");
  expect(idsOf(small.giveUp())).toBe("a-2 b-1");
  expect(small.count).toBe(0);
});
