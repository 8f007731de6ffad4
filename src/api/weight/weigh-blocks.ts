// What blocks cost to carry: each call pays for every block of its prompt again, at the price of where it lies.
import type { ConversationBlock } from "../../core/ledger/gateway-call.ts";
import { writtenTokens, type Usage } from "../../core/message/usage.ts";
import type { Rates } from "../../core/models/prices.ts";
import { splitBlocks } from "../shapes/split-blocks.ts";

export interface CarriedCall {
  readonly keptBlocks: number;
  readonly addedBlocks: readonly ConversationBlock[];
  /** Null for a call that is not counted, as one before the window or without usage or price. */
  readonly bill: { readonly usage: Usage; readonly rates: Rates } | null;
}

export interface Weight {
  /** Different blocks. */
  blocks: number;
  /** How often one of them was sent. */
  carried: number;
  /** Tokens × calls, as billed. */
  tokens: number;
  picoUsd: bigint;
}

/** The calls of one conversation, oldest first. Adds to the weight of each block's group. */
export function weighBlocks(
  calls: readonly CarriedCall[],
  weightOf: (block: ConversationBlock) => Weight,
): void {
  let prompt: readonly ConversationBlock[] = [];
  const known = new Set<string>();
  for (const { keptBlocks, addedBlocks, bill } of calls) {
    prompt = [...prompt.slice(0, keptBlocks), ...addedBlocks];
    if (bill === null) continue;
    const { inputPicoUsd, readPicoUsd } = bill.rates;
    const [readRate, writeRate] = [
      readPicoUsd ?? inputPicoUsd,
      writeRateOf(bill.usage, bill.rates),
    ];
    for (const block of splitBlocks(prompt, bill.usage)) {
      const weight = weightOf(block);
      if (!known.has(block.hash)) weight.blocks += 1;
      known.add(block.hash);
      weight.carried += 1;
      weight.tokens += block.read_tokens + block.written_tokens + block.fresh_tokens;
      weight.picoUsd +=
        BigInt(block.read_tokens) * readRate +
        BigInt(block.written_tokens) * writeRate +
        BigInt(block.fresh_tokens) * inputPicoUsd;
    }
  }
}

/** The mean over the lifetimes that were written. */
function writeRateOf(usage: Usage, { writePicoUsd, inputPicoUsd }: Rates): bigint {
  const written = writtenTokens(usage);
  if (written === 0) return inputPicoUsd;
  let sum = 0n;
  for (const [lifetime, tokens] of Object.entries(usage.cacheWriteTokens)) {
    const rate = Object.entries(writePicoUsd).find(([each]) => each === lifetime)?.[1];
    sum += BigInt(tokens) * (rate ?? inputPicoUsd);
  }
  return sum / BigInt(written);
}
