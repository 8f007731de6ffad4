// The blocks of a thread's last request, so that the next one is stored as a difference.
import type { Tokenizer } from "../../core/models/model-facts.ts";
import type { RecordedBlock, RecordedMarker } from "../recording.ts";
import { toRecordedBlock, type BlockDraft } from "./block-draft.ts";

export interface ThreadHistory {
  readonly blocks: readonly BlockDraft[];
  readonly hasImages: boolean;
  /** The next request: `keep` leading blocks of the last one, then `tail`. Equal blocks count as kept. */
  advance(keep: number, tail: readonly BlockDraft[]): Step;
}

export interface Step {
  readonly keep: number;
  readonly added: readonly BlockDraft[];
}

export function createThreadHistory(): ThreadHistory {
  const blocks: BlockDraft[] = [];
  /** Indices of blocks with images. */
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

/** The markers of the blocks; at most one per block. */
export function markersOf(drafts: readonly BlockDraft[]): RecordedMarker[] {
  return drafts.flatMap(({ marker }, block) =>
    marker === null ? [] : [{ block, lifetime: marker }],
  );
}

/** Joins blocks into messages as they were sent: only the last block ends a message. */
export function joinMessages(drafts: readonly BlockDraft[]): BlockDraft[] {
  return drafts.map((draft, index) => {
    const next = drafts[index + 1];
    const endsMessage = next === undefined || next.role !== draft.role;
    return endsMessage === draft.endsMessage ? draft : { ...draft, endsMessage };
  });
}
