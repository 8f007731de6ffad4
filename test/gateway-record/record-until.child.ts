// A gateway's process for tests: records a call every few milliseconds until it is killed, or until nothing can be written.
import { setTimeout as wait } from "node:timers/promises";
import { gatewayCall } from "../ledger/gateway-kit.ts";
import { openRecorder } from "../../src/gateway/record/open-recorder.ts";
import type { RecordingLoss } from "../../src/gateway/record/recording-loss.ts";

const [, , store = "", until] = process.argv;
const losses: RecordingLoss[] = [];
const limits = { retryMs: 50, ...(until === "full" ? { batchMs: 5 } : {}) };
const recorder = openRecorder({ store, limits, onLoss: (loss) => losses.push(loss) });

for (let number = 1; ; number += 1) {
  const call = gatewayCall("a", number, { endMs: Date.now(), notes: ["x".repeat(400)] });
  recorder.take(call);
  if (until === "full") {
    if (recorder.stats().problem !== null) break;
    if (number % 50 === 0) await recorder.flush();
  } else {
    process.stdout.write(`${JSON.stringify({ id: call.id, endMs: call.endMs })}\n`);
  }
  await wait(until === "full" ? 0 : 10);
}
const stats = recorder.stats();
await recorder.close();
process.stdout.write([stats, ...losses].map((said) => `${JSON.stringify(said)}\n`).join(""));
