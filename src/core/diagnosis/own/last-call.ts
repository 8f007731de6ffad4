// The call before, as a session keeps it: references in memory, and a few facts that are stored.
import type { CacheState } from "../../cache/cache-state.ts";
import type { CallOptions } from "../../wire/protocol.ts";
import { plainTraits, type CallTraits } from "./call-traits.ts";
import type { SentPrompt } from "./sent-prompt.ts";

export interface LastCall {
  /** Null in a process that did not make the call. */
  readonly sent: SentBefore | null;
  readonly traits: CallTraits;
  /** Its reply, where the provider is asked to compare the next call with it; null elsewhere. */
  readonly reply: LastReply | null;
  readonly endMs: number;
}

export interface LastReply {
  /** By the provider's name for it. */
  readonly id: string;
  readonly route: string;
  /** Whether its prompt ended with text that no later call repeats: the provider sees that as a change. */
  readonly hasOwnEnd: boolean;
}

export interface SentBefore {
  readonly prompt: SentPrompt;
  /** What was known of its model's cache after it. */
  readonly state: CacheState;
  /** The options that its settings were read from. */
  readonly options: CallOptions;
  /** How often the session had been compacted. */
  readonly compactions: number;
}

/** What is stored of a call. Absent fields have their usual value. */
export type KeptLastCall = Partial<Omit<CallTraits, "keepsThinking"> & Pick<LastCall, "reply">>;

/** Null if the call had nothing unusual. */
export function keepLastCall({ traits, reply }: LastCall): KeptLastCall | null {
  const { settings, betas, host, unslotted } = traits;
  const kept: KeptLastCall = {
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(betas.length > 0 && { betas }),
    ...(host !== null && { host }),
    ...(unslotted !== null && { unslotted }),
    ...(reply !== null && { reply }),
  };
  return Object.keys(kept).length === 0 ? null : kept;
}

export function restoreLastCall({ reply = null, ...kept }: KeptLastCall): LastCall {
  return { sent: null, traits: { ...plainTraits, ...kept }, reply, endMs: 0 };
}
