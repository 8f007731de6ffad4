// Sub-agents as veins that branch off below a cross-section: where each begins, how long it is, and in which lane it lies.
import type { Edges } from "./place-columns.ts";
import type { PicturedCall } from "./pictured-call.ts";

export interface Vein {
  readonly session: string;
  /** For people. */
  readonly name: string;
  readonly callCount: number;
  readonly dollars: number;
  /** Oldest first. */
  readonly calls: readonly VeinCall[];
}

export interface VeinCall {
  readonly startMs: number;
  readonly promptTokens: number;
  readonly readTokens: number;
}

export interface PlacedVein {
  readonly vein: Vein;
  readonly lane: number;
  /** Edges of the cross-section's columns, from 0 to 1. */
  readonly from: number;
  readonly to: number;
}

/** The place of a moment among the columns: within the column of the last call before it, as far as the time until the next one has gone. */
export function edgeAt(calls: readonly PicturedCall[], edges: Edges, ms: number): number {
  let low = 0;
  let high = calls.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((calls[middle]?.startMs ?? 0) <= ms) low = middle;
    else high = middle - 1;
  }
  const start = calls[low]?.startMs ?? 0;
  const next = calls[low + 1]?.startMs ?? start;
  const share = next > start ? Math.max(0, Math.min(1, (ms - start) / (next - start))) : 0;
  const [left, right] = [edges[low] ?? 0, edges[low + 1] ?? 1];
  return left + (right - left) * share;
}

/**
 * Each in the first lane that is free at its place; those that find none are left out and counted. `widthOf` is how much
 * a vein needs for its calls and its name, as a share of what is shown.
 */
export function placeVeins(
  veins: readonly Vein[],
  { calls, edges }: { readonly calls: readonly PicturedCall[]; readonly edges: Edges },
  { lanesMax, widthOf }: { readonly lanesMax: number; readonly widthOf: (vein: Vein) => number },
): { readonly placed: readonly PlacedVein[]; readonly leftOutCount: number } {
  const ends: number[] = [];
  const placed: PlacedVein[] = [];
  let leftOutCount = 0;
  for (const vein of veins) {
    const from = edgeAt(calls, edges, vein.calls[0]?.startMs ?? 0);
    const to = edgeAt(calls, edges, vein.calls.at(-1)?.startMs ?? 0);
    const free = ends.findIndex((end) => end <= from);
    const lane = free === -1 ? ends.length : free;
    if (lane >= lanesMax) {
      leftOutCount += 1;
      continue;
    }
    ends[lane] = Math.max(to, from + widthOf(vein));
    placed.push({ vein, lane, from, to });
  }
  return { placed, leftOutCount };
}
