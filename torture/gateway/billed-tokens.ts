// Every token that an upstream billed is in the ledger, or there is a reason that was counted.
import type { GatewayCall } from "../../src/core/ledger/gateway-call.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { brokenKinds, type Plan } from "./plan.ts";

/** By the number of their exchange. */
export async function readRecorded(store: string): Promise<ReadonlyMap<number, GatewayCall>> {
  const ledger = await openLedger(store);
  try {
    const found = new Map<number, GatewayCall>();
    for await (const id of conversationsIn(ledger)) {
      for (const call of await ledger.readGatewayCalls(id)) {
        found.set(Number(call.conversation.clientSession?.slice(2)), call);
      }
    }
    return found;
  } finally {
    await ledger.close();
  }
}

export async function* conversationsIn(ledger: Ledger): AsyncGenerator<string> {
  const limit = 500;
  for (let before: { updatedMs: number; id: string } | undefined; ;) {
    const page = await ledger.listSessions({
      origin: "gateway",
      status: "all",
      limit,
      ...(before === undefined ? {} : { before }),
    });
    for (const { id } of page) yield id;
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    before = { updatedMs: last.updatedMs, id: last.id };
  }
}

export interface Billed {
  readonly input: number;
  /** Null if the answer was cut before its provider said so. */
  readonly output: number | null;
}

/** What the bytes that came through the gateway say about the bill. Null for nothing, or for a client that left. */
export function billedBy({ client, upstream, answer, cutAt }: Plan): Billed | null {
  const stays = ["whole", "chunked", "large", "slow", "pipelined"].includes(client);
  if (answer.tokens === null || !stays) return null;
  const isBroken = brokenKinds.some((kind) => kind === upstream);
  if (!isBroken) return isAnswered(upstream) ? answer.tokens : null;
  const came = answer.body.subarray(0, Math.floor(answer.body.length * cutAt)).toString();
  if (!came.includes("\n\n")) return null;
  const isTold = /message_delta".*\n\n/.test(came);
  return { input: answer.tokens.input, output: isTold ? answer.tokens.output : null };
}

function isAnswered(upstream: Plan["upstream"]): boolean {
  return (
    upstream === "events" ||
    upstream === "JSON" ||
    upstream === "packed events" ||
    upstream === "early hints"
  );
}

/** A problem in words; null if the ledger says what was billed. */
export function judgeRecorded({ input, output }: Billed, call: GatewayCall): string | null {
  const { usage } = call;
  if (usage === null) return "no usage in the ledger";
  if (usage.uncachedTokens !== input) return `${usage.uncachedTokens} tokens instead of ${input}`;
  if (output === null || usage.outputTokens === output) return null;
  return `${usage.outputTokens} tokens of output instead of ${output}`;
}
