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

/** `inferred`: the size of a prompt without a bill, as later bills say. */
export type Anchor = (
  request: RecordedRequest,
  tokenizer: Tokenizer,
  inferred?: number,
) => AnchoredRequest;

/** Takes the requests of one thread in order. `owner` distinguishes its hidden blocks from those of other threads. */
export function createAnchor(owner: string): Anchor {
  /** The blocks of the last request. */
  const blocks: RecordedBlock[] = [];
  /** The tokens up to the end of each block. */
  const totals: number[] = [];
  /** Where each recorded block ends in `blocks`. */
  const ends: number[] = [];
  /** Of the sizes. */
  let sizedBy: Tokenizer | null = null;
  let count = 0;

  /** The blocks that are sent again take the sizes of another tokenizer, so that all blocks together have the billed size. */
  const resize = (total: number, counted: number): readonly number[] | undefined => {
    const kept = totals.at(-1) ?? 0;
    const ratio = (total - counted) / kept;
    if (kept === 0 || ratio < ratioMin || ratio > ratioMax) return undefined;
    const resized = scale(blocks, Math.round(kept * ratio));
    let end = 0;
    for (const [place, block] of resized.entries()) {
      end += block.tokens;
      blocks[place] = block;
      totals[place] = end;
    }
    return resized.map(({ tokens }) => tokens);
  };

  return (request, tokenizer, inferred) => {
    count += 1;
    ends.length = Math.min(request.keep, ends.length);
    blocks.length = ends.at(-1) ?? 0;
    totals.length = blocks.length;
    const counted = sumTokens(request.append);
    const billed = billedTotal(request) ?? inferred ?? null;
    const isOther = billed !== null && sizedBy !== null && sizedBy !== tokenizer;
    const sizes = isOther ? resize(billed, counted) : undefined;
    if (billed !== null || sizedBy === null) sizedBy = tokenizer;
    const kept = totals.at(-1) ?? 0;
    const total = billed === null || kept + counted === 0 ? kept + counted : billed;
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
    const anchored = { ...request, keep, append, markers: markers ?? null };
    return {
      request: sizes === undefined ? anchored : { ...anchored, sizes: sizes.slice(0, keep) },
      hiddenTokens,
    };
  };
}

/** A ratio of sizes between two tokenizers that is believed; a prompt beyond it changed by more than that. */
const ratioMin = 0.5;
const ratioMax = 2;

function billedTotal({ usage, remainderTokens }: RecordedRequest): number | null {
  const billed = usage === null ? 0 : promptTokens(usage) - remainderTokens;
  return billed > 0 ? billed : null;
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
