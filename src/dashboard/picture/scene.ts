// Everything that a cross-section is drawn from, worked out once per session.
import { findLayers, findTierEnds, type Layer, type TierEnds } from "./find-layers.ts";
import { placeColumns, type Edges, type Scale } from "./place-columns.ts";
import { promptTokensOf, type PicturedCall } from "./pictured-call.ts";

export interface Scene {
  readonly calls: readonly PicturedCall[];
  /** Those that take most room over time first. */
  readonly layers: readonly Layer[];
  /** The rectangles of each strand, in order of time. */
  readonly strands: ReadonlyMap<number, readonly Layer[]>;
  /** What a picture may name, heaviest first. */
  readonly heaviest: readonly Carried[];
  readonly tierEnds: readonly TierEnds[];
  /** By column. */
  readonly zones: readonly (readonly Zone[])[];
  /** Strands that stand out: the first of the heaviest. */
  readonly outstanding: ReadonlySet<number>;
  readonly edges: Edges;
  readonly scale: Scale;
  /** Tokens of the whole prompt, by column. */
  readonly prompts: Float64Array;
  /** Tokens that were not read, by column. */
  readonly unread: Float64Array;
  /** By column; 0 where the price is unknown. */
  readonly dollars: Float64Array;
  readonly tokensMax: number;
  readonly dollarsMax: number;
  /** Columns of misses, compactions and calls after a long pause: each is drawn. */
  readonly notable: readonly number[];
}

/** Longer than the shortest lifetime of most providers. */
const pauseMs = 300_000;

/** The pause before a column if it was a long one, else 0. */
export function pauseBefore(calls: readonly PicturedCall[], column: number): number {
  const startMs = calls[column]?.startMs ?? 0;
  const gapMs = startMs - (calls[column - 1]?.startMs ?? startMs);
  return gapMs > pauseMs ? gapMs : 0;
}

export function toScene(calls: readonly PicturedCall[], scale: Scale): Scene {
  const unread = new Float64Array(calls.length);
  const prompts = new Float64Array(calls.length);
  const dollars = new Float64Array(calls.length);
  let tokensMax = 1;
  let dollarsMax = 0;
  for (const [index, call] of calls.entries()) {
    const prompt = promptTokensOf(call);
    prompts[index] = prompt;
    unread[index] = Math.max(0, prompt - call.readTokens);
    tokensMax = Math.max(tokensMax, prompt);
    dollars[index] = dollarsOf(call) ?? 0;
    dollarsMax = Math.max(dollarsMax, dollars[index] ?? 0, call.comparedDollars ?? 0);
  }
  const found = findLayers(calls);
  const layers = found.toSorted((left, right) => areaOf(right) - areaOf(left));
  const strands = Map.groupBy(found, ({ strand }) => strand);
  const heaviest = findHeaviest({ calls, strands });
  const outstanding = heaviest.filter(({ tokens }) => tokens > tokensMax * outstandingShare);
  return {
    calls,
    layers,
    strands,
    heaviest,
    outstanding: new Set(outstanding.slice(0, outstandingMax).map(({ strand }) => strand)),
    tierEnds: findTierEnds(calls),
    zones: calls.map(zonesOf),
    edges: placeColumns(calls, scale),
    scale,
    prompts,
    unread,
    dollars,
    tokensMax,
    dollarsMax,
    notable: calls.flatMap(({ miss, isCompacted }, column) =>
      miss !== null || isCompacted || pauseBefore(calls, column) > 0 ? [column] : [],
    ),
  };
}

/** Null where the price is unknown. */
export function dollarsOf({ dollars }: PicturedCall): number | null {
  return dollars && dollars.read + dollars.written + dollars.fresh + dollars.output;
}

export type Zone = { readonly kind: "read" | "short" | "long" | "fresh"; readonly top: number };

/** What a call paid for its prompt, from the bottom: read, written for long, written for minutes, full price. */
function zonesOf(call: PicturedCall): readonly Zone[] {
  let top = call.readTokens;
  const zones: Zone[] = [{ kind: "read", top }];
  for (const { lifetime, tokens } of call.written) {
    top += tokens;
    zones.push({ kind: lifetime === "5m" ? "short" : "long", top });
  }
  zones.push({ kind: "fresh", top: Math.max(top, promptTokensOf(call)) });
  return zones;
}

/** A piece of the prompt over all columns in which it stayed. */
export interface Carried {
  readonly section: string;
  readonly tokens: number;
  readonly callCount: number;
  /** Read, written and sent so far; null if a price is unknown. */
  readonly dollars: number | null;
  readonly strand: number;
  /** Where it lies. */
  readonly parts: readonly Layer[];
}

function areaOf({ from, to, bottom, top }: Layer): number {
  return (to - from) * (top - bottom);
}

const heaviestMax = 24;
const outstandingMax = 5;
/** Of the longest prompt. */
const outstandingShare = 0.03;

type Strands = Pick<Scene, "calls" | "strands">;

function findHeaviest(scene: Strands): readonly Carried[] {
  return [...scene.strands.values()]
    .filter(([first]) => first?.tier === "T3" && first.section !== "")
    .map((parts) => ({ parts, area: parts.reduce((sum, part) => sum + areaOf(part), 0) }))
    .toSorted((left, right) => right.area - left.area)
    .slice(0, heaviestMax)
    .flatMap(({ parts: [first] }) => (first === undefined ? [] : [carry(first, scene)]));
}

export function carry({ strand, section }: Layer, { calls, strands }: Strands): Carried {
  const parts = strands.get(strand) ?? [];
  let [tokens, callCount] = [0, 0];
  let dollars: number | null = 0;
  for (const part of parts) {
    tokens = Math.max(tokens, part.top - part.bottom);
    callCount += part.to - part.from;
    for (let column = part.from; column < part.to; column += 1) {
      const call = calls[column];
      const cost: number | null = call === undefined ? null : costOfPart(call, part);
      dollars = cost === null || dollars === null ? null : dollars + cost;
    }
  }
  return { section, tokens, callCount, dollars, strand, parts };
}

/** The share of a layer in each bucket of the call's bill. */
function costOfPart(call: PicturedCall, { bottom, top }: Layer): number | null {
  const { dollars, readTokens } = call;
  if (dollars === null) return null;
  const writtenTokens = call.written.reduce((sum, { tokens }) => sum + tokens, 0);
  const freshTokens = Math.max(0, promptTokensOf(call) - readTokens - writtenTokens);
  const buckets = [
    { tokens: readTokens, dollars: dollars.read },
    { tokens: writtenTokens, dollars: dollars.written },
    { tokens: freshTokens, dollars: dollars.fresh },
  ];
  let from = 0;
  let sum = 0;
  for (const bucket of buckets) {
    const to = from + bucket.tokens;
    const own = Math.min(top, to) - Math.max(bottom, from);
    if (own > 0 && bucket.tokens > 0) sum += (bucket.dollars * own) / bucket.tokens;
    from = to;
  }
  return sum;
}

/** The layer at a place of the picture. */
export function layerAt({ layers }: Scene, column: number, atTokens: number): Layer | null {
  return (
    layers.find(
      ({ from, to, bottom, top }) =>
        from <= column && column < to && bottom <= atTokens && atTokens < top,
    ) ?? null
  );
}
