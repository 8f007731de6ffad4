// Stored calls → columns of a cross-section: what each kept of the prompt before it, what it added, and what was paid for it.
import { adviseOn, missCauses } from "../../core/diagnosis/explanation.ts";
import { fieldsOf, isCount, textIn, type Fields } from "../../core/message/fields.ts";
import { promptTokens, type Usage } from "../../core/message/usage.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import { findCost, withoutCache } from "../../core/models/cost.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { toUsdText } from "../../analytics/figures.ts";
import { toIso } from "../../analytics/time-window.ts";
import type { ResultRow } from "../../edge/stores/sql/database.ts";
import { integer, integerOrNull, text, textOrNull } from "../../edge/stores/sql/read-row.ts";
import { toUsage } from "../../edge/stores/ledger/turns/call-rows.ts";
import { usdOrNull } from "../shapes/call-shape.ts";
import type { ComparedCosts } from "./compare-policies.ts";
import { createMissFinder, type StoredPicture } from "./read-picture.ts";
import { createPromptWalk, type PicturePiece } from "./walk-prompts.ts";

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
  readonly plain_usd: string | null;
  readonly compared_usd: string | null;
  readonly markers: readonly PictureMarker[];
  readonly miss: PictureMiss | null;
  readonly is_compacted: boolean;
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
  compared: ComparedCosts,
  catalogue: Catalogue,
): readonly PictureCall[] {
  const missOf = createMissFinder(stored.misses);
  const walk = createPromptWalk();
  let beforeMs: number | null = null;
  return stored.calls.map((row, index) => {
    const number = index + 1 + stored.leftOutCount;
    const blocks = stored.blocks.get(textOrNull(row, "id") ?? "");
    const { kept, added, ends, isCompacted } = walk(row, blocks, number);
    const startMs = integer(row, "started_ms");
    const usage = integerOrNull(row, "uncached_tokens") === null ? null : toUsage(row);
    const gapMs = startMs - (beforeMs ?? startMs);
    const miss = missOf(row);
    beforeMs = startMs;
    const turn = textOrNull(row, "turn_id");
    return {
      call: turn === null ? text(row, "id") : `${turn}.${integer(row, "number")}`,
      number,
      started_at: toIso(startMs),
      model: text(row, "model"),
      policy: text(row, "policy"),
      status: text(row, "status"),
      kept_tokens: kept,
      added,
      ...toPaid(usage, row, catalogue),
      compared_usd: usdOrNull(compared.ofCalls[index] ?? null),
      markers: toMarkers(row, ends),
      miss: miss && toMiss(miss, { ends, gapMs }),
      is_compacted: isCompacted,
    };
  });
}

type Paid = Pick<
  PictureCall,
  "read_tokens" | "written_tokens" | "uncached_tokens" | "output_tokens" | "dollars" | "plain_usd"
>;

function toPaid(usage: Usage | null, row: ResultRow, catalogue: Catalogue): Paid {
  if (usage === null) {
    const none = { read_tokens: 0, written_tokens: {}, uncached_tokens: 0, output_tokens: 0 };
    return { ...none, dollars: null, plain_usd: null };
  }
  const facts = findModel(text(row, "model"), catalogue)?.facts ?? null;
  const at = integer(row, "started_ms");
  const { cost } = facts === null ? { cost: null } : findCost(usage, facts, { at });
  const { cost: plain } =
    facts === null ? { cost: null } : findCost(withoutCache(usage), facts, { at });
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
    plain_usd: plain && toUsdText(plain.totalPicoUsd),
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
