// Scales the blocks of a recorded thread to what the provider billed, and finds what the recording does not show.
import { hashContent } from "../core/hash.ts";
import { promptTokens } from "../core/message/usage.ts";
import type { Tokenizer } from "../core/models/model-facts.ts";
import type { RecordedBlock, RecordedRequest } from "./recording.ts";
import { countErrorOf } from "./explain/unseen-change.ts";

export interface AnchoredRequest {
  /** Its blocks add up to the bill. A block for hidden growth shifts the numbers of those after it. */
  readonly request: RecordedRequest;
  /** Billed tokens that no recorded block accounts for; negative if recorded tokens were not sent. */
  readonly hiddenTokens: number;
}

export type Anchor = (request: RecordedRequest, tokenizer: Tokenizer) => AnchoredRequest;

/** Takes the requests of one thread in order. `owner` distinguishes its hidden blocks from those of other threads. */
export function createAnchor(owner: string): Anchor {
  /** The blocks of the last request. */
  const blocks: RecordedBlock[] = [];
  /** The tokens up to the end of each block. */
  const totals: number[] = [];
  /** Where each recorded block ends in `blocks`. */
  const ends: number[] = [];
  /** Billed tokens of a tokenizer per token of the thread's first one. */
  const ratios = new Map<Tokenizer, number>();
  let count = 0;

  /** The size of the prompt in tokens of the thread's first tokenizer; our own count if there is no bill. */
  const billedTotal = (
    { usage, remainderTokens }: RecordedRequest,
    tokenizer: Tokenizer,
    counted: number,
  ): number => {
    const billed = usage === null ? 0 : promptTokens(usage) - remainderTokens;
    if (billed <= 0 || counted === 0) return counted;
    const ratio = ratios.get(tokenizer) ?? (ratios.size === 0 ? 1 : billed / counted);
    ratios.set(tokenizer, ratio);
    return Math.round(billed / ratio);
  };

  return (request, tokenizer) => {
    count += 1;
    ends.length = Math.min(request.keep, ends.length);
    blocks.length = ends.at(-1) ?? 0;
    totals.length = blocks.length;
    const counted = sumTokens(request.append);
    const kept = totals.at(-1) ?? 0;
    const total = billedTotal(request, tokenizer, kept + counted);
    const grown = total - kept;
    const error = countErrorOf(tokenizer, counted);
    const hiddenTokens = Math.abs(grown - counted) > error ? grown - counted : 0;
    const mark = `${owner}\n${count}`;
    let { append } = request;
    if (hiddenTokens > 0) append = [hiddenBlock(mark, hiddenTokens), ...append];
    else if (grown >= counted / 2 || blocks.length === 0) append = scale(append, grown);
    else {
      // More was left out than added: what follows the part that was read was not sent as recorded.
      const changed = blocks.splice(unchangedCount(blocks, request));
      const rest = [...changed, ...append];
      const rewritten = scale(rest, sumTokens(changed) + grown);
      append = rewritten.map((block) => ({
        ...block,
        hash: hashContent(`${mark}\n${block.hash}`),
      }));
    }
    const keep = blocks.length;
    totals.length = keep;
    for (const block of append) {
      blocks.push(block);
      totals.push((totals.at(-1) ?? 0) + block.tokens);
    }
    const first = blocks.length - request.append.length;
    for (const place of request.append.keys()) ends.push(first + place + 1);
    const markers = request.markers?.flatMap(({ block, lifetime }) => {
      const end = ends[block];
      return end === undefined ? [] : [{ block: end - 1, lifetime }];
    });
    return { request: { ...request, keep, append, markers: markers ?? null }, hiddenTokens };
  };
}

function sumTokens(blocks: readonly RecordedBlock[]): number {
  return blocks.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** The same proportions with another sum. */
function scale(blocks: readonly RecordedBlock[], total: number): readonly RecordedBlock[] {
  const counted = sumTokens(blocks);
  if (counted === 0 || counted === total) return blocks;
  let before = 0;
  let end = 0;
  return blocks.map((block) => {
    before += block.tokens;
    const start = end;
    end = Math.round((before / counted) * Math.max(0, total));
    return { ...block, tokens: end - start };
  });
}

/** Blocks before the messages, and those that the provider read from its cache. */
function unchangedCount(blocks: readonly RecordedBlock[], { usage }: RecordedRequest): number {
  let end = 0;
  const changed = blocks.findIndex(({ tokens, tier }) => {
    end += tokens;
    return tier === "T3" && end > (usage?.cacheReadTokens ?? 0);
  });
  return changed === -1 ? blocks.length : changed;
}

function hiddenBlock(mark: string, tokens: number): RecordedBlock {
  return {
    hash: hashContent(`hidden growth\n${mark}`),
    tokens,
    tier: "T3",
    kind: "text",
    role: "user",
    endsMessage: false,
    mayCarryMarker: true,
  };
}
