// A thread of which only the bills are known: each growth of the prompt is one block without content.
import { hashContent } from "../../core/hash.ts";
import { promptTokens, type Usage } from "../../core/message/usage.ts";
import type { RecordedRequest } from "../recording.ts";
import type { BlockDraft, Drafting } from "./block-draft.ts";
import { createThreadHistory, type RequestFacts } from "./thread-history.ts";

export interface BilledFacts extends RequestFacts {
  readonly usage: Usage;
}

export type BillThread = (facts: BilledFacts) => RecordedRequest;

/**
 * Takes the calls of a thread in order. A prompt as long as the last one or longer is taken to begin with it; a shorter one
 * is new from its start. `owner` distinguishes its blocks from those of other threads.
 */
export function createBillThread(owner: string, drafting: Drafting): BillThread {
  const history = createThreadHistory();
  let last = 0;
  let count = 0;
  return (facts) => {
    const prompt = promptTokens(facts.usage);
    const isLonger = prompt >= last;
    const grown = isLonger ? prompt - last : prompt;
    last = prompt;
    count += 1;
    const tail = grown === 0 ? [] : [draftGrowth(`${owner}\n${count}`, grown, drafting)];
    return history.advance(isLonger ? history.blocks.length : 0, tail, facts);
  };
}

function draftGrowth(mark: string, tokens: number, { excerpts }: Drafting): BlockDraft {
  return {
    hash: hashContent(`billed growth\n${mark}`),
    size: tokens,
    tier: "T3",
    kind: "text",
    role: "user",
    endsMessage: true,
    mayCarryMarker: true,
    hasImage: false,
    marker: null,
    ...(excerpts ? { excerpt: "(not in the recording)" } : {}),
  };
}
