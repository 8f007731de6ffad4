// What a call to the simulator costs by its own record of the tokens, in pico-dollars.
import { findTotal } from "../src/core/models/cost.ts";
import type { ModelFacts } from "../src/core/models/model-facts.ts";
import type { Call } from "../src/simulator/call-ledger.ts";

/** `atMs`: the moment whose prices count. */
export function costOfBill(call: Call | undefined, facts: ModelFacts, atMs: number): bigint {
  const record = call?.billed;
  if (record === null || record === undefined) throw new Error("nothing was billed");
  const { bill, outputTokens, reasoningTokens } = record;
  const usage = {
    uncachedTokens: bill.uncachedTokens,
    cacheReadTokens: bill.readTokens,
    cacheWriteTokens: bill.writeTokens,
    outputTokens: outputTokens - reasoningTokens,
    reasoningTokens,
  };
  const total = findTotal(usage, facts, { at: atMs });
  if (total === null) throw new Error("it has no price");
  return total;
}
