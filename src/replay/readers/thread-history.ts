// The blocks of a thread's last request, so that the next one is stored as a difference.
import type { RecordedMarker, RecordedRequest } from "../recording.ts";
import { tokenizerOf, toRecordedBlock, type BlockDraft } from "./block-draft.ts";

export interface ThreadHistory {
  readonly blocks: readonly BlockDraft[];
  /** The next request: `keep` leading blocks of the last one, then `tail`. Equal blocks count as kept. */
  advance(keep: number, tail: readonly BlockDraft[], facts: RequestFacts): RecordedRequest;
}

/** What a reader knows about a request besides its blocks. */
export interface RequestFacts extends Omit<
  RecordedRequest,
  "keep" | "append" | "remainderTokens" | "markers"
> {
  readonly markers?: RecordedRequest["markers"];
}

export function createThreadHistory(): ThreadHistory {
  const blocks: BlockDraft[] = [];
  /** Indices of blocks with images. */
  const images: number[] = [];
  return {
    blocks,
    advance(keepMin, tail, facts) {
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
      const tokenizer = tokenizerOf(facts.model);
      return {
        markers: null,
        ...facts,
        keep,
        append: added.map((draft) => toRecordedBlock(draft, tokenizer)),
        remainderTokens: 0,
        settings: { ...facts.settings, ...(images.length > 0 ? withImages : {}) },
      };
    },
  };
}

const withImages = { "images appear or vanish": "images" };

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
