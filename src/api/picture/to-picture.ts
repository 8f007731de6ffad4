// Stored calls → columns of a cross-section: what each kept of the prompt before it, what it added, and what was paid for it.
import { adviseOn, missCauses } from "../../core/diagnosis/explanation.ts";
import { fieldsOf, isCount, textIn, type Fields } from "../../core/message/fields.ts";
import { promptTokens, type Usage } from "../../core/message/usage.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import { findCost } from "../../core/models/cost.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { tiers, type Tier } from "../../core/tokens/budget.ts";
import { toUsdText } from "../../analytics/figures.ts";
import { toIso } from "../../analytics/time-window.ts";
import type { ResultRow } from "../../edge/stores/sql/database.ts";
import { integer, integerOrNull, text, textOrNull } from "../../edge/stores/sql/read-row.ts";
import { toUsage } from "../../edge/stores/ledger/turns/call-rows.ts";
import { createMissFinder, type StoredPicture } from "./read-picture.ts";

/** As the API answers it. */
export interface PictureCall {
  readonly call: string;
  readonly number: number;
  readonly started_at: string;
  readonly model: string;
  readonly policy: string;
  readonly status: string;
  readonly kept_tokens: number;
  readonly added: readonly PicturePiece[];
  readonly read_tokens: number;
  readonly written_tokens: Readonly<Record<string, number>>;
  readonly uncached_tokens: number;
  readonly output_tokens: number;
  readonly dollars: PictureDollars | null;
  readonly markers: readonly PictureMarker[];
  readonly miss: PictureMiss | null;
  readonly is_compacted: boolean;
}

interface PicturePiece {
  readonly tier: Tier;
  readonly section: string;
  readonly tokens: number;
}

interface PictureDollars {
  readonly read_usd: string;
  readonly written_usd: string;
  readonly uncached_usd: string;
  readonly output_usd: string;
}

interface PictureMarker {
  readonly at_tokens: number;
  readonly lifetime: string;
  readonly reason: string | null;
}

interface PictureMiss {
  readonly cause: string;
  readonly at_tokens: number;
  readonly lost_tokens: number;
  readonly lost_usd: string | null;
  readonly block: string | null;
  readonly byte: number | null;
  readonly detail: string | null;
  readonly advice: string;
}

export function toPictureCalls(
  stored: StoredPicture,
  catalogue: Catalogue,
): readonly PictureCall[] {
  const missOf = createMissFinder(stored.misses);
  let before: Prompt = { ends: [], sizes: null, startMs: null };
  return stored.calls.map((row, index) => {
    const blocks = stored.blocks.get(textOrNull(row, "id") ?? "");
    const prompt = blocks === undefined ? fromTiers(row, before) : fromBlocks(row, blocks, before);
    const startMs = integer(row, "started_ms");
    const usage = integerOrNull(row, "uncached_tokens") === null ? null : toUsage(row);
    const gapMs = startMs - (before.startMs ?? startMs);
    const miss = missOf(row);
    before = { ends: prompt.ends, sizes: prompt.sizes, startMs };
    const { kept, added, ends, isCompacted } = prompt;
    const turn = textOrNull(row, "turn_id");
    return {
      call: turn === null ? text(row, "id") : `${turn}.${integer(row, "number")}`,
      number: index + 1 + stored.leftOutCount,
      started_at: toIso(startMs),
      model: text(row, "model"),
      policy: text(row, "policy"),
      status: text(row, "status"),
      kept_tokens: kept,
      added,
      ...toPaid(usage, row, catalogue),
      markers: toMarkers(row, ends),
      miss: miss && toMiss(miss, { ends, gapMs }),
      is_compacted: isCompacted,
    };
  });
}

/** A prompt as ends of its blocks, in our tokens. */
interface Prompt {
  readonly ends: readonly number[];
  /** By tier, where nothing is known of its blocks. */
  readonly sizes: Readonly<Partial<Record<Tier, number>>> | null;
  readonly startMs: number | null;
}

interface NextPrompt extends Omit<Prompt, "startMs"> {
  readonly kept: number;
  readonly added: readonly PicturePiece[];
  readonly isCompacted: boolean;
}

/** A call of the gateway: the first blocks of the call before, then its own. */
function fromBlocks(row: ResultRow, blocks: readonly ResultRow[], before: Prompt): NextPrompt {
  const keptBlocks = Math.min(integerOrNull(row, "kept_blocks") ?? 0, before.ends.length);
  const ends = before.ends.slice(0, keptBlocks);
  const kept = ends.at(-1) ?? 0;
  const added: PicturePiece[] = [];
  let end = kept;
  for (const block of blocks) {
    const [tier, tokens] = [tierOf(text(block, "tier")), integer(block, "tokens")];
    end += tokens;
    ends.push(end);
    const last = added.at(-1);
    // Tools and system text are one piece each: their parts stay together.
    if (last !== undefined && last.tier === tier && tier < "T3") {
      added[added.length - 1] = { ...last, section: nameOf[tier], tokens: last.tokens + tokens };
    } else added.push({ tier, section: text(block, "section"), tokens });
  }
  const whole = before.ends.at(-1) ?? 0;
  return { kept, added, ends, sizes: null, isCompacted: whole > 20_000 && end < whole / 2 };
}

const nameOf: Readonly<Record<Tier, string>> = {
  T0: "tools",
  T1: "static system",
  T2: "session system",
  T3: "history",
  T4: "message",
  T5: "sent with this call alone",
};

/** A call of a turn: the sizes of its tiers. A history that grew was kept; one that shrank was compacted. */
function fromTiers(row: ResultRow, before: Prompt): NextPrompt {
  const sizes = sizesIn(row);
  const old = before.sizes ?? {};
  const added: PicturePiece[] = [];
  const ends: number[] = [];
  let kept = 0;
  let isKept = before.sizes !== null;
  let end = 0;
  const oldHistory = (old.T3 ?? 0) + (old.T4 ?? 0);
  const history = (sizes.T3 ?? 0) + (sizes.T4 ?? 0);
  const isCompacted = isKept && history < oldHistory;
  for (const tier of ["T0", "T1", "T2"] as const) {
    const tokens = sizes[tier] ?? 0;
    end += tokens;
    ends.push(end);
    isKept &&= tokens === old[tier] || tokens + (old[tier] ?? 0) === 0;
    if (isKept) kept = end;
    else if (tokens > 0) added.push({ tier, section: nameOf[tier], tokens });
  }
  const keptHistory = isKept && !isCompacted ? oldHistory : 0;
  kept += keptHistory;
  if (history > keptHistory)
    added.push({ tier: "T3", section: nameOf.T3, tokens: history - keptHistory });
  end += history;
  const alone = sizes.T5 ?? 0;
  if (alone > 0) added.push({ tier: "T5", section: nameOf.T5, tokens: alone });
  return { kept, added, ends: [...ends, end, end + alone], sizes, isCompacted };
}

function sizesIn(row: ResultRow): Readonly<Partial<Record<Tier, number>>> {
  const listed = outcomeOf(row)["tiers"];
  const pairs = Array.isArray(listed) ? listed : [];
  return Object.fromEntries(
    pairs.flatMap((pair: unknown) => {
      const [tier, tokens]: readonly unknown[] = Array.isArray(pair) ? pair : [];
      return isTier(tier) && isCount(tokens) ? [[tier, tokens]] : [];
    }),
  );
}

function outcomeOf(row: ResultRow): Fields {
  return fieldsOf(JSON.parse(text(row, "outcome_json")));
}

function isTier(value: unknown): value is Tier {
  return tiers.some((tier) => tier === value);
}

function tierOf(value: string): Tier {
  return isTier(value) ? value : "T3";
}

type Paid = Pick<
  PictureCall,
  "read_tokens" | "written_tokens" | "uncached_tokens" | "output_tokens" | "dollars"
>;

function toPaid(usage: Usage | null, row: ResultRow, catalogue: Catalogue): Paid {
  if (usage === null) {
    const none = { read_tokens: 0, written_tokens: {}, uncached_tokens: 0, output_tokens: 0 };
    return { ...none, dollars: null };
  }
  const facts = findModel(text(row, "model"), catalogue)?.facts ?? null;
  const at = integer(row, "started_ms");
  const { cost } = facts === null ? { cost: null } : findCost(usage, facts, { at });
  const written = Object.values(cost?.writePicoUsd ?? {}).reduce((sum, each) => sum + each, 0n);
  return {
    read_tokens: usage.cacheReadTokens,
    written_tokens: Object.fromEntries(
      Object.entries(usage.cacheWriteTokens)
        .filter(([, tokens]) => tokens > 0)
        .toReversed(),
    ),
    uncached_tokens: promptTokens(usage) - usage.cacheReadTokens - sumOf(usage.cacheWriteTokens),
    output_tokens: usage.outputTokens + usage.reasoningTokens,
    dollars: cost && {
      read_usd: toUsdText(cost.readPicoUsd),
      written_usd: toUsdText(written),
      uncached_usd: toUsdText(cost.uncachedPicoUsd),
      output_usd: toUsdText(cost.outputPicoUsd + cost.reasoningPicoUsd),
    },
  };
}

function sumOf(tokens: Usage["cacheWriteTokens"]): number {
  return Object.values(tokens).reduce((sum, each) => sum + each, 0);
}

function toMarkers(row: ResultRow, ends: readonly number[]): readonly PictureMarker[] {
  const { markers } = fieldsOf(JSON.parse(text(row, "plan_json")));
  if (!Array.isArray(markers)) return [];
  return markers.flatMap((each: unknown) => {
    const { block, lifetime, reason } = fieldsOf(each);
    // For calls of turns only the sizes of tiers are known, so markers behind those are drawn at the end of the history.
    const end = isCount(block) ? (ends[block] ?? ends.at(-1)) : undefined;
    if (end === undefined || typeof lifetime !== "string") return [];
    return [{ at_tokens: end, lifetime, reason: typeof reason === "string" ? reason : null }];
  });
}

function toMiss(
  payload: Fields,
  { ends, gapMs }: { readonly ends: readonly number[]; readonly gapMs: number },
): PictureMiss {
  const cause = missCauses.find((each) => each === payload["cause"]) ?? "no miss";
  const { block_index: block, block_byte_offset: byte, lost_tokens: lost } = payload;
  const section = textIn(payload, "block_label") ?? null;
  const detail = textIn(payload, "detail") ?? null;
  const about = { gapMs, minimumTokens: null, isBestEffort: false, section, detail };
  return {
    cause,
    at_tokens: isCount(block) && block > 0 ? (ends[block - 1] ?? ends.at(-1) ?? 0) : 0,
    lost_tokens: isCount(lost) ? lost : 0,
    lost_usd: textIn(payload, "lost_cost_usd") ?? null,
    block: section,
    byte: isCount(byte) ? byte : null,
    detail,
    advice: adviseOn(cause, about),
  };
}
