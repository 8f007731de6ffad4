// What a cause of loss is called in a sentence, and what one does about it.
import type { LossCause } from "./session-account.ts";

export interface LossWords {
  /** In "$3 of it is …". */
  readonly what: string;
  /** After a colon. */
  readonly act: string;
}

export function wordsOf(cause: LossCause): LossWords {
  return words[cause];
}

const words: Readonly<Record<LossCause, LossWords>> = {
  markers: { what: "where markers stand", act: "place them by cost" },
  "system changed": { what: "your changing system text", act: "freeze it" },
  "tools changed": { what: "your changing tools", act: "keep the list over a session" },
  "tools reordered": { what: "tools in another order", act: "sort them by name" },
  "history rewritten": { what: "rewritten history", act: "append to it and edit nothing" },
  "parameter changed": { what: "changed settings", act: "keep them over a session" },
  "beta header changed": { what: "changed beta features", act: "send the same ones" },
  "model changed": { what: "changes of the model", act: "change it after a compaction" },
  "lifetime expired": { what: "pauses that outlived the cache", act: "repeat the prefix in time" },
  "below the minimum": { what: "prompts below the minimum", act: "pad the system text" },
  "beyond lookback": { what: "entries out of reach", act: "keep the marker before" },
  "written concurrently": { what: "calls at the same time", act: "wait for the first answer" },
  "no slot for a marker": { what: "too many markers", act: "give one up" },
  "nothing was marked": { what: "prompts without a marker", act: "mark the end" },
  "changed after the head": {
    what: "changes that are not recorded",
    act: "keep injected text and settings as they are",
  },
  "another host": { what: "answers of other hosts", act: "send one cache key for a session" },
  "provider lost it": { what: "what the provider dropped", act: "nothing on your side caused it" },
  "stored prefix gone": { what: "stored prefixes that were gone", act: "keep their key" },
  "first call": { what: "first calls", act: "nothing to do" },
  "no miss": { what: "calls without a miss", act: "nothing to do" },
};
