// A prompt as a list of blocks: what an assembly, a foreign request and a recorded trace have in common.
import type { ListView } from "../growing/growing-list.ts";
import type { ContentHash } from "../hash.ts";
import type { Carrier } from "../models/marker-rules.ts";
import type { Tier } from "../tokens/budget.ts";

/** One piece of a prompt, in the order the provider reads it. */
export interface PromptBlock {
  /** Of the whole prefix that ends here: equal keys mean equal bytes up to and with this block. */
  readonly key: ContentHash;
  readonly tokens: number;
  /** Tokens up to and with this block. */
  readonly endTokens: number;
  readonly tier: Tier;
  readonly kind: BlockKind;
  readonly role: PromptRole;
  /** Whether a message ends with it. */
  readonly endsMessage: boolean;
  /** False where nothing can be marked, whatever the provider takes. */
  readonly mayCarryMarker: boolean;
  /** Of a system block. */
  readonly label?: string;
}

/** The names that providers' marker rules use, and one for what they do not name. */
export type BlockKind = Carrier | "other";

export type PromptRole = "tools" | "system" | "user" | "assistant";

/** Blocks by index, from 0. An array of blocks is one. */
export type BlockList = ListView<PromptBlock>;
