// A request of any client, in our form.
import type { BlockKind, PromptBlock, PromptRole } from "../../assembly/prompt-block.ts";
import type { WireMarker } from "../../cache/find-hit.ts";
import { emptyPrefixKey, extendPrefixKey, type ContentHash } from "../../hash.ts";
import type { Block } from "../../message/message.ts";
import type { Lifetime } from "../../message/usage.ts";
import type { RequestChange } from "../../models/invalidation.ts";
import type { Tier } from "../../tokens/budget.ts";

export interface ForeignRequest {
  /** Its name; empty if a recording does not say. */
  readonly protocol: string;
  /** The client's spelling; empty if the body names none. */
  readonly model: string;
  /** In the order the provider reads them: tools, system, messages. */
  readonly blocks: readonly ForeignBlock[];
  /** As on the wire, in block order. A block may have several. */
  readonly markers: readonly ForeignMarker[];
  /** One marker for the whole request; null for none. */
  readonly requestMarker: Lifetime | null;
  /** Markers on content that is not in the prompt. */
  readonly strayMarkers: readonly StrayMarker[];
  /** Whether the provider may also end a prefix without a marker. */
  readonly mode: "implicit" | "explicit";
  /** The lifetime the client asks for where the provider caches automatically; null for its default. */
  readonly ownLifetime: Lifetime | null;
  /** Settings, besides blocks, that can invalidate a prefix; an explicit default reads as absent. */
  readonly settings: RequestSettings;
  /** Whether the client asked that earlier thinking stays, on models that would drop it. */
  readonly keepsThinking: boolean;
  /** Whether the provider adds an earlier part that is not in the body. */
  readonly continues: boolean;
}

export type RequestSettings = Readonly<Partial<Record<RequestChange, string>>>;

export interface ForeignBlock extends PromptBlock {
  /** The hash of this block only. */
  readonly hash: ContentHash;
  /** Its path in the body, such as `messages.12.content.0`. */
  readonly path: string;
  /** For people, such as `tool Bash` or `user message 12`. */
  readonly section: string;
  /** What the model sees, in one spelling: plain text, or JSON if there is more than text. */
  readonly text: string;
}

export interface ForeignMarker extends WireMarker {
  readonly path: string;
}

export interface StrayMarker {
  readonly path: string;
  /** The kind of block that carries it. */
  readonly on: BlockKind;
}

/** A body as one protocol's reader returns it. Keys and counts are added later for all protocols. */
export interface ReadShape extends Omit<
  ForeignRequest,
  "protocol" | "model" | "blocks" | "markers"
> {
  readonly drafts: readonly BlockDraft[];
}

export interface BlockDraft {
  readonly path: string;
  readonly section: string;
  readonly tier: Extract<Tier, "T0" | "T1" | "T3">;
  readonly role: PromptRole;
  readonly kind: BlockKind;
  readonly text: string;
  readonly endsMessage: boolean;
  readonly mayCarryMarker: boolean;
  readonly markers: readonly { readonly lifetime: Lifetime; readonly path: string }[];
  /** What to count instead of the text; null if the model sees none of it. */
  readonly counted?: Block | null;
}

/** A block before it is chained to the others. */
export type LooseBlock = Omit<ForeignBlock, "key" | "endTokens">;

/** Chains the keys of content hashes, and sums the tokens; after a prefix, if its key and tokens are given. */
export function chainBlocks(
  blocks: readonly LooseBlock[],
  prefixKey: ContentHash = emptyPrefixKey,
  prefixTokens = 0,
): readonly ForeignBlock[] {
  let key = prefixKey;
  let endTokens = prefixTokens;
  return blocks.map((block) => {
    key = extendPrefixKey(key, block.hash);
    endTokens += block.tokens;
    return { ...block, key, endTokens };
  });
}

/** The last draft of a list ends its message. */
export function endMessage(drafts: readonly BlockDraft[]): readonly BlockDraft[] {
  return drafts.map((draft, index) =>
    index === drafts.length - 1 ? { ...draft, endsMessage: true } : draft,
  );
}
