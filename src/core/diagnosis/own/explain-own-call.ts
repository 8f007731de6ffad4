// Why one of our own calls read less than it could have: the prompts are known to the byte, and the session knows what it wrote.
import {
  countErrorMax,
  createRuler,
  isLive,
  type CacheState,
  type KnownEntry,
  type Ruler,
} from "../../cache/cache-state.ts";
import { keepsEveryPrefix, wholeSteps } from "../../cache/expect-bill.ts";
import type { ContentHash } from "../../hash.ts";
import { promptTokens, type Usage } from "../../message/usage.ts";
import type { Tier } from "../../tokens/budget.ts";
import { explainCall } from "../explain-call.ts";
import {
  adviseOn,
  isBlamedOnProvider,
  nameHost,
  renamed,
  type Explanation,
} from "../explanation.ts";
import { describePlace, sharedBlocks } from "../find-divergence.ts";
import type { KeptPrefixes, TrackedEntry } from "../kept-prefixes.ts";
import { lossOf } from "../price-loss.ts";
import { viewPrompt, type PromptView } from "../prompt-view.ts";
import { scaledRuler, type RememberedCall } from "../remember-call.ts";
import type { CallTraits } from "./call-traits.ts";
import { toForeign, type SentPrompt } from "./sent-prompt.ts";

export interface OwnCallQuestion {
  /** The call before; null if its prompt is not known any more, or was compacted. */
  readonly before: OwnCallBefore | null;
  readonly isCompacted: boolean;
  /** What was special about the call before. */
  readonly traitsBefore: CallTraits;
  readonly now: SentPrompt;
  /** What was known of this model's cache before this call. */
  readonly state: CacheState;
  readonly usage: Usage;
  readonly startMs: number;
}

export interface OwnCallBefore {
  readonly prompt: SentPrompt;
  /** What was known of its model's cache after it. */
  readonly state: CacheState;
  /** How many of its blocks count; those behind them were given up on purpose, as by a compaction. */
  readonly length: number;
  /** When others can read what it wrote. */
  readonly readableMs: number;
}

/** With hashes of the block before and now; null if it did not change. */
export interface OwnExplanation extends Explanation {
  readonly cause: Exclude<Explanation["cause"], "no miss">;
  readonly tier: Tier | null;
  readonly beforeHash: ContentHash | null;
  readonly afterHash: ContentHash | null;
}

/** Smaller losses are not reported: rounding, by our counts or by the provider's steps. */
export const lostTokensMin = 1024;

/** Null if too little was lost to report. */
export function explainOwnCall(question: OwnCallQuestion): OwnExplanation | null {
  const { now, usage, startMs } = question;
  const view = viewPrompt(toForeign(now), now.model);
  const known = question.before ?? beforeFromEntries(question);
  if (known === null) return null;
  const old = viewPrompt(toForeign(known.prompt, known.length), known.prompt.model);
  const before = rememberOwn(known, old, question);
  const texts = new Map(old.blocks.map(({ hash, text }) => [hash, text]));
  const found = explainCall({
    before,
    view,
    rules: now.model,
    usage,
    startMs,
    textBefore: (hash) => texts.get(hash),
  });
  const slot = findLostSlot(known, old, view, question);
  const explained = slot !== null && slot.lostTokens > found.lostTokens ? slot : found;
  if (explained.lostTokens < lostTokensMin) return null;
  const detailed = withDetail(explained, question);
  const { cause } = detailed;
  if (cause === "no miss" || cause === "first call") return null;
  return { ...detailed, cause, ...placeOf(detailed, known, old, view, now) };
}

/** Where a call's volatile text stood at the divergence, that text broke the prefix: it is named, not what replaced it. */
function placeOf(
  { block }: Explanation,
  { prompt }: OwnCallBefore,
  old: PromptView,
  view: PromptView,
  now: SentPrompt,
): Pick<OwnExplanation, "block" | "tier" | "beforeHash" | "afterHash"> {
  if (block === null) return { block, tier: null, beforeHash: null, afterHash: null };
  const [was, is] = [old.blocks[block.index], view.blocks[block.index]];
  const tierIn = ({ assembly }: SentPrompt, at: typeof was): Tier | null =>
    at === undefined ? null : (assembly.sealed.at(Number(at.path))?.tier ?? null);
  const isVolatile = tierIn(prompt, was) === "T5" && was?.hash !== is?.hash;
  const isSame = was?.hash === is?.hash || (block.before === null && block.after === null);
  return {
    block: isVolatile && was !== undefined ? { ...block, section: was.section } : block,
    tier: isVolatile ? "T5" : (tierIn(now, is) ?? tierIn(prompt, was)),
    beforeHash: isSame ? null : (was?.hash ?? null),
    afterHash: isSame ? null : (is?.hash ?? null),
  };
}

/** The prompt of the call before is gone, but entries of this prompt show what was sent. */
function beforeFromEntries(question: OwnCallQuestion): OwnCallBefore | null {
  const { state, now, traitsBefore: traits } = question;
  const { sealed } = now.assembly;
  const last = state.entries.reduce(
    (most, { block, key }) => (block > most && sealed.at(block)?.key === key ? block : most),
    -1,
  );
  return last === -1
    ? null
    : { prompt: { ...now, traits }, state, length: last + 1, readableMs: 0 };
}

function rememberOwn(
  known: OwnCallBefore,
  view: PromptView,
  { state, now, startMs }: OwnCallQuestion,
): RememberedCall {
  const { prompt } = known;
  const isSameModel = prompt.model.id === now.model.id;
  const entries = [
    ...trackEntries(known, view),
    // Entries that this model had before the session left it.
    ...(isSameModel
      ? []
      : trackEntries(
          { prompt: now, state, length: Infinity, readableMs: 0 },
          viewPrompt(toForeign(now), now.model),
        )),
  ];
  return {
    model: view.model,
    settings: view.request.settings,
    continues: false,
    blocks: view.blocks,
    entries,
    ...lastKept(known, view, entries),
    // What was read before says nothing that the entries do not say better.
    readTokens: 0,
    startMs: known.state.lastStartMs ?? startMs,
  };
}

interface OwnEntry extends TrackedEntry {
  /** Whether a reply gave its size. */
  readonly isExact: boolean;
}

function trackEntries(known: OwnCallBefore, view: PromptView): readonly OwnEntry[] {
  const { prompt, state, length, readableMs } = known;
  const { sealed } = prompt.assembly;
  const ruler = createRuler(sealed, state.measured);
  const places = new Map(view.blocks.map(({ path }, index) => [path, index]));
  return state.entries.flatMap((entry): OwnEntry[] => {
    const place = places.get(String(entry.block));
    const at = place === undefined ? undefined : view.blocks[place];
    if (place === undefined || at === undefined || entry.block >= length) return [];
    if (sealed.at(entry.block)?.key !== entry.key) return [];
    return [
      {
        ...entry,
        key: at.key,
        contentKey: at.contentKey,
        model: view.model,
        block: place,
        tokens: sizeOf(entry, ruler, prompt),
        readableMs: entry.writtenMs === state.lastStartMs ? readableMs : 0,
        isExact: entry.tokens !== null,
      },
    ];
  });
}

function sizeOf({ tokens, block }: KnownEntry, ruler: Ruler, { model }: SentPrompt): number {
  const size = tokens ?? ruler(block);
  return keepsEveryPrefix(model.cache) ? wholeSteps(size, model.cache) : size;
}

/** The longest prefix that the call before left in the cache, or why it left none. */
function lastKept(
  { prompt, state }: OwnCallBefore,
  view: PromptView,
  entries: readonly OwnEntry[],
): Pick<KeptPrefixes, "kept" | "unkept"> {
  const touched = entries.filter(
    ({ touchedMs, tokens }) => touchedMs === state.lastStartMs && tokens > 0,
  );
  const longest = touched.toSorted((left, right) => right.block - left.block)[0];
  if (longest !== undefined) {
    const { block, tokens, isExact } = longest;
    return { kept: { block, tokens, isExact }, unkept: null };
  }
  const block = Math.min(state.lastTail?.block ?? -1, view.blocks.length - 1);
  const tokens = createRuler(prompt.assembly.sealed, state.measured)(block);
  const isShort = tokens * (1 - countErrorMax) < (prompt.model.cache.minimumTokens ?? 0);
  // Otherwise the plan wanted to keep nothing.
  if (!isShort || block < 0) return { kept: null, unkept: null };
  return { kept: null, unkept: { cause: "below the minimum", block, tokens } };
}

/** A marker of the call before that found no free slot: what it would have kept is paid again. */
function findLostSlot(
  { prompt, state, length }: OwnCallBefore,
  old: PromptView,
  view: PromptView,
  { usage, now, startMs, ...rest }: OwnCallQuestion,
): Explanation | null {
  const shared = sharedBlocks(old.blocks, view.blocks);
  const block = prompt.traits.unslotted ?? -1;
  const isSentAgain = block < Math.min(shared, length);
  const isKept = state.entries.some(
    (entry) => entry.block >= block && isLive(entry, startMs) && entry.block < shared,
  );
  if (block === -1 || !isSentAgain || isKept || prompt.model.id !== now.model.id) return null;
  const ruler = scaledRuler(view, usage);
  const reported = usage.cacheReadTokens;
  const expected = Math.min(ruler(block), promptTokens(usage));
  const lostTokens = Math.max(0, expected - reported);
  const loss = { ...rest, view, rules: now.model, ruler, startMs, reported, usage };
  const place = describePlace(view.blocks, block);
  return {
    expectedReadTokens: expected,
    reportedReadTokens: reported,
    cause: "no slot for a marker",
    detail: null,
    block: place,
    lostTokens,
    lostPicoUsd: lossOf(lostTokens, loss),
    advice: adviseOn("no slot for a marker", {
      gapMs: 0,
      minimumTokens: null,
      isBestEffort: false,
      section: place?.section ?? null,
      detail: null,
    }),
    detectedBy: ["expected more"],
  };
}

/** If the provider seems to have lost a prefix, a change outside the prompt explains it better. */
function withDetail(found: Explanation, question: OwnCallQuestion): Explanation {
  const { before, now, state, startMs, traitsBefore: old } = question;
  const { traits: current } = now;
  if (found.cause === "lifetime expired") {
    const lastMs = state.lastStartMs ?? before?.state.lastStartMs ?? null;
    const minutes = lastMs === null ? null : Math.round((startMs - lastMs) / 60_000);
    return { ...found, detail: minutes === null ? null : `after ${minutes} min` };
  }
  if (!isBlamedOnProvider(found)) return found;
  const [oldBetas, betas] = [old.betas.join(","), current.betas.join(",")];
  // Another model needs other beta features, and runs on other hosts.
  const isSameModel = before?.prompt.model.id === now.model.id;
  if (isSameModel && oldBetas !== betas) {
    return renamed(found, "beta header changed", `${oldBetas || "none"} → ${betas || "none"}`);
  }
  const named = isSameModel ? nameHost(found, old.host, current.host) : found;
  if (named !== found) return named;
  return before === null && !question.isCompacted ? { ...found, detail: unknownBefore } : found;
}

const unknownBefore = "the prompt before is not known";
