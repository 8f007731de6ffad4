// A foreign request as the model's provider reads it: dropped blocks, settings in the keys, places of markers.
import type { PromptBlock } from "../assembly/prompt-block.ts";
import { canCarry, carrierAt } from "../cache/fit-markers.ts";
import { lastEndings, type WireMarker } from "../cache/find-hit.ts";
import { keptMsOf, type Ruler } from "../cache/cache-state.ts";
import { emptyPrefixKey, extendPrefixKey, hashContent, type ContentHash } from "../hash.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { CachedTier, InvalidationRule } from "../models/invalidation.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { findModel } from "../models/resolve-model.ts";
import type { Tier } from "../tokens/budget.ts";
import { detach } from "./excerpt.ts";
import type {
  ForeignBlock,
  ForeignRequest,
  RequestSettings,
} from "../wire/foreign/foreign-request.ts";

export interface PromptView {
  readonly request: ForeignRequest;
  /** One name for every spelling of the model. */
  readonly model: string;
  readonly blocks: readonly ViewBlock[];
  /** The blocks of the request that the provider reads, one for each of the view's. */
  readonly shown: readonly ForeignBlock[];
  /** What the settings add to the keys of tools, system and messages. */
  readonly salts: readonly string[];
}

/** Its `key` is the provider's: model and settings are in it. */
export interface ViewBlock extends ForeignBlock {
  /** The key of the content only, over the whole prefix. */
  readonly contentKey: ContentHash;
}

/** `before`: the view of an earlier request. What both share, as the same values, is taken over from it. */
export function viewPrompt(
  request: ForeignRequest,
  rules: ModelFacts,
  before: PromptView | null = null,
): PromptView {
  const model = findModel(request.model)?.facts.id ?? detach(request.model);
  const isSameSettings = before?.request.settings === request.settings && before.model === model;
  const salts = isSameSettings
    ? before.salts
    : saltsByTier(tierSalts(request.settings, rules.cache.invalidation));
  const shown = withoutUnseenThinking(request, rules);
  const isWhole = shown.length === request.blocks.length;
  const kept = keptBlocks(shown, { model, salts, areAllShown: isWhole }, before);
  let contentKey = kept.at(-1)?.contentKey ?? emptyPrefixKey;
  let endTokens = kept.at(-1)?.endTokens ?? 0;
  let entered = latestTier(kept);
  const added = shown.slice(kept.length).map((block) => {
    contentKey = isWhole ? block.key : extendPrefixKey(contentKey, block.hash);
    endTokens += block.tokens;
    if (block.tier > entered) entered = block.tier;
    const key = hashContent(`${model}\n${salts[rankOf(entered)] ?? ""}\n${contentKey}`);
    return { ...block, key, contentKey, endTokens };
  });
  const blocks = kept.length === 0 ? added : kept.concat(added);
  return { request, model, blocks, shown, salts };
}

/** The blocks of the view before that stand for the same values at the same places. */
function keptBlocks(
  shown: readonly ForeignBlock[],
  now: Pick<PromptView, "model" | "salts"> & { readonly areAllShown: boolean },
  before: PromptView | null,
): readonly ViewBlock[] {
  const { model, salts, areAllShown } = now;
  if (before === null || before.model !== model) return [];
  if (before.salts.some((salt, rank) => salt !== salts[rank])) return [];
  const isWhole = areAllShown && before.shown.length === before.request.blocks.length;
  const low = sharedPlaces(before, shown, isWhole);
  return low === before.blocks.length ? before.blocks : before.blocks.slice(0, low);
}

/** How many leading blocks are the same values. */
function sharedPlaces(
  { shown: old }: PromptView,
  shown: readonly ForeignBlock[],
  isWhole: boolean,
): number {
  let low = 0;
  let high = Math.min(old.length, shown.length);
  // Where blocks were left out, the same block at the same place may stand behind others.
  if (!isWhole) {
    while (low < high && old[low] === shown[low]) low += 1;
    return low;
  }
  // A key holds all that stands before it, so the same block at the same place has the same beginning.
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (old[middle - 1] === shown[middle - 1]) low = middle;
    else high = middle - 1;
  }
  return low;
}

function latestTier(blocks: readonly ViewBlock[]): Tier {
  const last = blocks.at(-1)?.tier ?? "T0";
  if (last === "T3") return last;
  return blocks.reduce<Tier>((latest, { tier }) => (tier > latest ? tier : latest), last);
}

/** The markers that the provider sees, with its own: all, and those above the minimum, in block order. */
export interface SeenMarkers {
  readonly placed: readonly WireMarker[];
  readonly usable: readonly WireMarker[];
}

export function seeMarkers(view: PromptView, rules: CacheRules, ruler: Ruler): SeenMarkers {
  const { request, blocks } = view;
  const own = ownMarkers(view, rules);
  const explicit = explicitMarkers(view, rules);
  const max = rules.markers?.markersMax ?? 0;
  const isCut = rules.markers?.excess === "the latest count" && explicit.length > 0;
  const counted = isCut ? explicit.slice(-Math.max(1, max - own.length)) : explicit;
  const requested = requestMarkerOf(blocks, request.requestMarker, rules);
  const byBlock = new Map<number, WireMarker>();
  for (const marker of [...counted, ...requested, ...own]) {
    const before = byBlock.get(marker.block);
    const isLonger =
      before !== undefined && keptMsOf(marker.lifetime, rules) > keptMsOf(before.lifetime, rules);
    if (before === undefined || isLonger) byBlock.set(marker.block, marker);
  }
  const placed = [...byBlock.values()].toSorted((left, right) => left.block - right.block);
  const minimum = rules.minimumTokens ?? 0;
  return { placed, usable: placed.filter(({ block }) => ruler(block) >= minimum) };
}

/** The first tier that a change invalidates; null if none. */
export function firstLostTier({ survives }: InvalidationRule): CachedTier | null {
  return (
    (["tools", "system", "messages"] as const).find((tier) => !survives.includes(tier)) ?? null
  );
}

/** Where a tier of the provider's own counting begins among the blocks. */
export function tierStart(blocks: readonly PromptBlock[], tier: CachedTier): number {
  const rank = tier === "tools" ? 0 : tier === "system" ? 1 : 2;
  return blocks.findIndex((block) => rankOf(block.tier) >= rank);
}

function rankOf(tier: Tier): number {
  if (tier === "T0") return 0;
  return tier === "T1" || tier === "T2" ? 1 : 2;
}

/** A setting enters the keys at the first tier that its change invalidates. */
function tierSalts(
  settings: RequestSettings,
  invalidation: readonly InvalidationRule[],
): Readonly<Record<string, string>> {
  const salts: Record<string, string> = {};
  for (const rule of invalidation) {
    const value = settings[rule.change];
    const tier = firstLostTier(rule);
    if (value === undefined || tier === null) continue;
    salts[tier] = `${salts[tier] ?? ""}${rule.change}=${value};`;
  }
  return salts;
}

/** The salts of the keys of tools, system and messages. */
function saltsByTier(salts: Readonly<Record<string, string>>): readonly string[] {
  const tools = salts["tools"] ?? "";
  const system = `${tools}\n${salts["system"] ?? ""}`;
  return [tools, system, `${system}\n${salts["messages"] ?? ""}`];
}

/**
 * Older models drop earlier thinking after a new user message. A request without thinking drops that of the current
 * tool turn.
 */
function withoutUnseenThinking(
  { blocks, keepsThinking, settings }: ForeignRequest,
  { capabilities }: ModelFacts,
): readonly ForeignBlock[] {
  const dropsEarlier = capabilities.stripsPriorThinking && !keepsThinking;
  // Transcripts do not record the setting, so only an explicit change of the model's default counts.
  const dropsCurrent = settings.thinking === "off";
  if (!dropsEarlier && !dropsCurrent) return blocks;
  const lastSaid = blocks.findLastIndex(
    ({ role, kind }) => role === "user" && kind !== "tool_result",
  );
  return blocks.filter(({ kind }, index) => {
    const isThought = kind === "thinking" || kind === "redacted_thinking";
    return !isThought || !(index > lastSaid ? dropsCurrent : dropsEarlier);
  });
}

/** The client's markers on blocks that can carry one, by their place in the view. */
function explicitMarkers(
  { request, blocks }: PromptView,
  { markers: rules }: CacheRules,
): readonly WireMarker[] {
  if (rules === null) return [];
  const places =
    blocks.length === request.blocks.length
      ? null
      : new Map(blocks.map(({ path }, index) => [path, index]));
  return request.markers.flatMap(({ block, lifetime }): WireMarker[] => {
    const path = request.blocks[block]?.path ?? "";
    const place = places === null ? block : places.get(path);
    const at = place === undefined ? undefined : blocks[place];
    if (place === undefined || at === undefined) return [];
    // For an unknown block, trust the client.
    return canCarry(at, rules) || at.kind === "other" ? [{ block: place, lifetime }] : [];
  });
}

function requestMarkerOf(
  blocks: readonly ViewBlock[],
  lifetime: WireMarker["lifetime"] | null,
  { markers }: CacheRules,
): readonly WireMarker[] {
  if (lifetime === null || markers?.requestLevel !== true) return [];
  const block = carrierAt(blocks, blocks.length - 1, markers);
  return block === -1 ? [] : [{ block, lifetime }];
}

/** The provider's own marker: none or one. */
function ownMarkers({ request, blocks }: PromptView, rules: CacheRules): readonly WireMarker[] {
  if (rules.automatic?.takesMarkerSlot !== true || request.mode === "explicit") return [];
  const [block] = lastEndings(blocks, 1);
  const lifetime = request.ownLifetime ?? rules.lifetimes[0]?.lifetime;
  return block === undefined || lifetime === undefined ? [] : [{ block, lifetime }];
}
