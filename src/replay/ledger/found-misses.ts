// What the engine found about a call: as it reported it while the session ran, or as the same code finds it now.
import { parseUsdText } from "../../analytics/figures.ts";
import {
  adviseOn,
  type Circumstances,
  type Explanation,
} from "../../core/diagnosis/explanation.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Miss } from "../../core/turn/diagnose-call.ts";
import type { FoundMiss } from "../recording.ts";
import type { RebuiltCall } from "./rebuild-calls.ts";

/** What was reported of a turn: how many of its calls, and the misses by call number. */
export interface StoredMisses {
  readonly calls: number;
  readonly misses: ReadonlyMap<number, Miss>;
}

/** By turn. Events may be missing: swept, or never recorded. */
export async function readStoredMisses(
  ledger: Ledger,
  sessionId: string,
): Promise<ReadonlyMap<string, StoredMisses>> {
  const turns = new Map<string, { calls: number; misses: Map<number, Miss> }>();
  const types = ["llm.call_completed", "llm.call_failed", "cache.miss"];
  for await (const event of ledger.readEvents({ sessionId, types })) {
    if (event.turnId === null) continue;
    const turn = turns.get(event.turnId) ?? { calls: 0, misses: new Map<number, Miss>() };
    turns.set(event.turnId, turn);
    // A miss follows the end of its call.
    if (event.type === "cache.miss") turn.misses.set(turn.calls, event.payload);
    else turn.calls += 1;
  }
  return turns;
}

/** What was reported while the session ran; where that is not stored, what the same code finds now. */
export function findMiss(
  { call, turn, miss, isExact, session }: RebuiltCall,
  stored: StoredMisses | undefined,
  hasBefore: boolean,
): FoundMiss {
  const isStored = stored !== undefined && stored.calls === turn.callCount;
  const found = isStored ? (stored.misses.get(call.number) ?? null) : miss;
  const { model, cache } = session;
  const gapMs = cache.lastStartMs === null ? 0 : call.startMs - cache.lastStartMs;
  const about = {
    gapMs,
    minimumTokens: model.cache.minimumTokens,
    isBestEffort: model.cache.automatic?.bestEffort === true,
  };
  const readTokens = call.usage?.cacheReadTokens ?? 0;
  const explanation =
    found === null
      ? noMiss(hasBefore ? "no miss" : "first call", readTokens)
      : toExplanation(found, about, isStored || isExact);
  return { explanation, evidence: isStored || isExact ? "recorded" : "inferred" };
}

function noMiss(cause: "no miss" | "first call", readTokens: number): Explanation {
  const circumstances = { gapMs: 0, minimumTokens: null, isBestEffort: false };
  return {
    expectedReadTokens: readTokens,
    reportedReadTokens: readTokens,
    cause,
    detail: null,
    block: null,
    lostTokens: 0,
    lostPicoUsd: 0n,
    advice: adviseOn(cause, { ...circumstances, section: null, detail: null }),
    detectedBy: [],
  };
}

/** `isExact`: whether the byte is that of the prompt as sent. */
function toExplanation(
  miss: Miss,
  about: Omit<Circumstances, "section" | "detail">,
  isExact: boolean,
): Explanation {
  const { cause, detail, block_index: index, block_label: section, block_tier: tier } = miss;
  return {
    expectedReadTokens: miss.expected_read_tokens,
    reportedReadTokens: miss.reported_read_tokens,
    cause,
    detail,
    block:
      index === null || tier === null
        ? null
        : {
            index,
            path: `block ${index + 1}`,
            tier,
            section: section ?? "",
            byteOffset: isExact ? miss.block_byte_offset : null,
            before: null,
            after: null,
          },
    lostTokens: miss.lost_tokens,
    lostPicoUsd: parseUsdText(miss.lost_cost_usd),
    advice: adviseOn(cause, { ...about, section, detail }),
    detectedBy: ["expected more"],
  };
}
