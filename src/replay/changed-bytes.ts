// The requests of a thread with other bytes than recorded: broken where the bills show a change, or with a frozen beginning.
import { hashContent } from "../core/hash.ts";
import type { RecordedBlock, RecordedRequest } from "./recording.ts";

/** Takes the requests of one thread in order. Blocks keep their number and size; their hashes change, so keys change. */
export interface ByteChange {
  next(request: RecordedRequest): RecordedRequest;
}

export interface BreakingBytes {
  /** `readTokens`: how far the recorded call read in spite of an unseen change; null where there was none. */
  next(request: RecordedRequest, readTokens: number | null): RecordedRequest;
}

/** What follows the part that was read counts as new, for every policy and from then on. `owner` tells threads apart. */
export function createBreaks(owner: string): BreakingBytes {
  const blocks: RecordedBlock[] = [];
  let count = 0;
  return {
    next(request, readTokens) {
      count += 1;
      blocks.length = Math.min(blocks.length, request.keep);
      takeSizes(blocks, request);
      const first = readTokens === null ? blocks.length : firstUnread(blocks, readTokens);
      const mark = `unseen change\n${owner}\n${count}`;
      const changed = blocks.splice(first).map((block) => ({
        ...block,
        hash: hashContent(`${mark}\n${block.hash}`),
      }));
      blocks.push(...changed, ...request.append);
      return changed.length === 0
        ? request
        : { ...request, keep: first, append: [...changed, ...request.append] };
    },
  };
}

function takeSizes(blocks: RecordedBlock[], { sizes }: RecordedRequest): void {
  for (const [place, tokens] of sizes?.entries() ?? []) {
    const block = blocks[place];
    if (block !== undefined) blocks[place] = { ...block, tokens };
  }
}

function firstUnread(blocks: readonly RecordedBlock[], readTokens: number): number {
  let end = 0;
  const first = blocks.findIndex(({ tokens }) => {
    end += tokens;
    return end > readTokens;
  });
  return first === -1 ? blocks.length : first;
}

/** Tools and system text stay as the thread first sent them, and so do settings that would invalidate a prefix. */
export function createFrozenBeginning(): ByteChange {
  const recorded: RecordedBlock[] = [];
  const sent: RecordedBlock[] = [];
  let beginning: readonly RecordedBlock[] | null = null;
  let settings: RecordedRequest["settings"] | null = null;
  return {
    next(request) {
      settings ??= request.settings;
      const frozen = { ...settings, ...imagesOf(request) };
      const keep = Math.min(recorded.length, request.keep);
      recorded.length = keep;
      takeSizes(recorded, request);
      takeSizes(sent, request);
      recorded.push(...request.append);
      if (beginning === null || !request.append.some(isBeginning)) {
        beginning ??= recorded.filter(isBeginning);
        sent.length = keep;
        sent.push(...request.append);
        return { ...request, settings: frozen };
      }
      const now = freeze(recorded, beginning);
      let same = Math.min(sent.length, now.length, keep);
      while (same < sent.length && same < now.length && sent[same]?.hash === now[same]?.hash) {
        same += 1;
      }
      const append = now.slice(same);
      sent.length = same;
      sent.push(...append);
      return { ...request, settings: frozen, keep: same, append };
    },
  };
}

function isBeginning({ tier }: RecordedBlock): boolean {
  return tier !== "T3";
}

/** The same places with the content that was first there. */
function freeze(
  blocks: readonly RecordedBlock[],
  beginning: readonly RecordedBlock[],
): readonly RecordedBlock[] {
  let place = -1;
  return blocks.map((block) => {
    if (!isBeginning(block)) return block;
    place += 1;
    const first = beginning[place];
    return first === undefined ? block : { ...block, hash: first.hash };
  });
}

/** The name of the setting that follows from a history. */
export const images = "images appear or vanish";

/** Whether a history holds images follows from its messages. */
function imagesOf({ settings }: RecordedRequest): RecordedRequest["settings"] {
  const value = settings[images];
  return value === undefined ? {} : { [images]: value };
}
