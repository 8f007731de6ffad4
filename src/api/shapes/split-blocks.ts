// The blocks of a prompt with what of each was read, written and paid plainly: a bill covers the prompt from its start.
import type { ConversationBlock } from "../../core/ledger/gateway-call.ts";
import { promptTokens, writtenTokens, type Usage } from "../../core/message/usage.ts";

export interface SplitBlock extends ConversationBlock {
  readonly read_tokens: number;
  readonly written_tokens: number;
  readonly fresh_tokens: number;
}

/** Our counts are scaled to the bill, so that the blocks add up to it. */
export function splitBlocks(
  blocks: readonly ConversationBlock[],
  usage: Usage,
): readonly SplitBlock[] {
  const counted = blocks.reduce((sum, { tokens }) => sum + tokens, 0);
  if (counted === 0) return [];
  const billed = promptTokens(usage);
  const readEnd = usage.cacheReadTokens;
  const writtenEnd = readEnd + writtenTokens(usage);
  let [sofar, start] = [0, 0];
  return blocks.map(({ hash, tier, kind, role, section, tokens }) => {
    sofar += tokens;
    const end = Math.round((sofar * billed) / counted);
    const within = (from: number, to: number): number =>
      Math.max(0, Math.min(end, to) - Math.max(start, from));
    const split = {
      hash,
      tier,
      kind,
      role,
      section,
      tokens,
      read_tokens: within(0, readEnd),
      written_tokens: within(readEnd, writtenEnd),
      fresh_tokens: within(writtenEnd, billed),
    };
    start = end;
    return split;
  });
}
