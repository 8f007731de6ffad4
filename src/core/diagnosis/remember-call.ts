// What is kept of a call: the prefixes the provider should have now, and the data to compare the next call.
import { createRuler, type Ruler } from "../cache/cache-state.ts";
import type { ContentHash } from "../hash.ts";
import { promptTokens, type Usage } from "../message/usage.ts";
import { detach } from "./excerpt.ts";
import type { ForeignBlock, RequestSettings } from "../wire/foreign/foreign-request.ts";
import { keepPrefixes, type AnsweredRequest, type KeptPrefixes } from "./kept-prefixes.ts";
import type { PromptView } from "./prompt-view.ts";

/** Holds hashes and names, no content. */
export interface RememberedCall extends KeptPrefixes {
  readonly model: string;
  readonly settings: RequestSettings;
  readonly continues: boolean;
  readonly blocks: readonly RememberedBlock[];
  readonly readTokens: number;
  readonly startMs: number;
}

export interface RememberedBlock extends Pick<
  ForeignBlock,
  "hash" | "path" | "section" | "tier" | "role" | "kind" | "tokens" | "endTokens"
> {
  readonly contentKey: ContentHash;
}

export function rememberCall(answered: AnsweredRequest): RememberedCall {
  const remembered = rememberView(answered);
  return {
    ...remembered,
    settings: detachSettings(remembered.settings),
    blocks: remembered.blocks.map(rememberBlock),
  };
}

/** The same with the view's own blocks, which hold content: for a caller that keeps the view anyway. Copies nothing. */
export function rememberView(answered: AnsweredRequest): RememberedCall {
  const { view, usage, startMs } = answered;
  const { request } = view;
  const prefixes = keepPrefixes(answered, scaledRuler(view, usage, answered.scale));
  const { longest, kept, unkept } = prefixes;
  return {
    model: view.model,
    settings: request.settings,
    continues: request.continues,
    blocks: view.blocks,
    // Made when they are asked for, if at all.
    get entries() {
      return prefixes.entries;
    },
    ...(longest && { longest }),
    kept,
    unkept,
    readTokens: usage?.cacheReadTokens ?? 0,
    startMs,
  };
}

/** What is compared with later calls, without the content. */
export function rememberBlock({
  contentKey,
  hash,
  path,
  section,
  tier,
  role,
  kind,
  tokens,
  endTokens,
}: RememberedBlock): RememberedBlock {
  return {
    contentKey,
    hash,
    path,
    section: detach(section),
    tier,
    role,
    kind,
    tokens,
    endTokens,
  };
}

/** Our counts, stretched so that they add up to what was billed. */
export function scaledRuler(view: PromptView, usage: Usage | null, scale = 1): Ruler {
  const counted = view.blocks.at(-1)?.endTokens ?? 0;
  const billed = usage === null ? 0 : promptTokens(usage);
  const factor = counted > 0 && billed > 0 ? billed / counted : scale;
  const endOf = createRuler(view.blocks, null);
  return (block) => Math.round(endOf(block) * factor);
}

function detachSettings(settings: RequestSettings): RequestSettings {
  const copy: RequestSettings = JSON.parse(JSON.stringify(settings));
  return copy;
}
