// A prompt as a list of blocks: the common form of assemblies, foreign requests and recorded traces.
import type { ListView } from "../growing/growing-list.ts";
import type { ContentHash } from "../hash.ts";
import type { Lifetime } from "../message/usage.ts";
import type { Carrier } from "../models/marker-rules.ts";
import type { Tier } from "../tokens/budget.ts";

/** One piece of a prompt, in the provider's reading order. */
export interface PromptBlock {
  /** The key of the whole prefix up to and including this block. Equal keys mean equal bytes. */
  readonly key: ContentHash;
  readonly tokens: number;
  /** Tokens up to and including this block. */
  readonly endTokens: number;
  readonly tier: Tier;
  readonly kind: BlockKind;
  readonly role: PromptRole;
  /** Whether it is the last block of a message. */
  readonly endsMessage: boolean;
  /** False if this block can never carry a marker, on any provider. */
  readonly mayCarryMarker: boolean;
  /** Only for system blocks. */
  readonly label?: string;
  /** How long its text asks to be kept; absent if the policy decides. */
  readonly lifetime?: Lifetime;
}

/** The names in providers' marker rules, and one for everything else. */
export type BlockKind = Carrier | "other";

export const promptRoles = ["tools", "system", "user", "assistant"] as const;

export type PromptRole = (typeof promptRoles)[number];

/** Blocks by index, from 0. An array of blocks is one. */
export type BlockList = ListView<PromptBlock>;
