// What a client's requests would have cost as it sent them: the same bodies, at the same times, at a simulator of their own.
import { createSimulator, type Call, type Model } from "../../src/simulator/index.ts";
import type { SentRequest } from "./tap.ts";

export async function billAgain(
  sent: readonly SentRequest[],
  model: Model,
): Promise<readonly Call[]> {
  const simulator = createSimulator({ model, clock: "virtual" });
  const inOrder = sent.toSorted((left, right) => left.startMs - right.startMs);
  let atMs = inOrder[0]?.startMs ?? 0;
  for (const { method, path, headers, body, startMs } of inOrder) {
    await simulator.clock.advance(startMs - atMs);
    atMs = startMs;
    const hasBody = method !== "GET" && method !== "HEAD";
    const answer = await simulator.fetch(`http://127.0.0.1${path}`, {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      ...(hasBody ? { body: new Uint8Array(body) } : {}),
    });
    await answer.arrayBuffer();
  }
  return simulator.calls();
}
