// What the last request of a thread held, so that the next is told as what changed since.
import type { Tokenizer } from "../../core/models/model-facts.ts";
import type { RecordedBlock, RecordedMarker } from "../recording.ts";
import { toRecordedBlock, type BlockDraft } from "./block-draft.ts";

export interface ThreadHistory {
  readonly blocks: readonly BlockDraft[];
  readonly hasImages: boolean;
  /** The next request: so many leading blocks of the last one, then these. Equal blocks count as kept. */
  advance(keep: number, tail: readonly BlockDraft[]): Step;
}

export interface Step {
  readonly keep: number;
  readonly added: readonly BlockDraft[];
}

export function createThreadHistory(): ThreadHistory {
  const blocks: BlockDraft[] = [];
  /** Where images are, in block order. */
  const images: number[] = [];
  return {
    blocks,
    get hasImages() {
      return images.length > 0;
    },
    advance(keepMin, tail) {
      let keep = Math.min(keepMin, blocks.length);
      let equal = 0;
      while (equal < tail.length && keep < blocks.length) {
        if (tail[equal]?.hash !== blocks[keep]?.hash) break;
        equal += 1;
        keep += 1;
      }
      blocks.length = keep;
      while ((images.at(-1) ?? -1) >= keep) images.pop();
      const added = tail.slice(equal);
      for (const draft of added) {
        if (draft.hasImage) images.push(blocks.length);
        blocks.push(draft);
      }
      return { keep, added };
    },
  };
}

export function toRecordedBlocks(
  drafts: readonly BlockDraft[],
  tokenizer: Tokenizer,
): RecordedBlock[] {
  return drafts.map((draft) => toRecordedBlock(draft, tokenizer));
}

/** The markers that came with the blocks; at most one on each. */
export function markersOf(drafts: readonly BlockDraft[]): RecordedMarker[] {
  return drafts.flatMap(({ marker }, block) =>
    marker === null ? [] : [{ block, lifetime: marker }],
  );
}

/** What a message of several blocks or lines became when it was sent: only its last block ends it. */
export function joinMessages(drafts: readonly BlockDraft[]): BlockDraft[] {
  return drafts.map((draft, index) => {
    const next = drafts[index + 1];
    const endsMessage = next === undefined || next.role !== draft.role;
    return endsMessage === draft.endsMessage ? draft : { ...draft, endsMessage };
  });
}
