// Where and how often a client may ask a provider to keep a prefix, and how far back an entry is found.
import * as read from "./read-fields.ts";

export interface MarkerRules {
  /** Per request, over tools, system and messages. */
  readonly markersMax: number;
  readonly excess: (typeof excesses)[number];
  /** Whether one marker may cover the whole request, on its last fitting block. */
  readonly requestLevel: boolean;
  readonly lookback: Lookback;
  readonly carriers: readonly Carrier[];
  readonly never: readonly Carrier[];
  readonly lifetimeOrder: (typeof lifetimeOrders)[number];
  /** How a marker is written on a block. */
  readonly spelledAs: (typeof spellings)[number];
}

/** How far before a marker the provider still finds an earlier entry. */
export type Lookback =
  | {
      readonly kind: "positions";
      /** The marker's own position counts as the first. */
      readonly positions: number;
      readonly counting: (typeof countings)[number];
    }
  | {
      /** Only the ends of marked or implicit parts are looked up, this many of each. */
      readonly kind: "boundaries";
      readonly explicitFirst: number;
      readonly explicitLatest: number;
      readonly implicitEarlier: number;
    };

/** What a marker can, or can never, stand on. */
export type Carrier = (typeof carriers)[number];

const excesses = ["rejected", "the latest count"] as const;
const lifetimeOrders = ["longest first", "any"] as const;
const spellings = ["cache_control", "prompt_cache_breakpoint"] as const;
const countings = ["a run of tool uses or of tool results is one", "every block"] as const;
export const carriers = [
  "tool definition",
  "deferred tool",
  "system text",
  "system message cleared at the next user message",
  "text",
  "empty text",
  "image",
  "document",
  "tool_use",
  "tool_result",
  "thinking",
  "redacted_thinking",
  "compaction",
  "server tool block",
] as const;

export function parseMarkers(value: unknown, place: string): MarkerRules {
  const { max: markersMax, ...rules } = read.shape(value, place, {
    max: read.count,
    excess: read.choice(excesses),
    requestLevel: read.flag,
    lookback: parseLookback,
    carriers: read.listOf(read.choice(carriers)),
    never: read.listOf(read.choice(carriers)),
    lifetimeOrder: read.choice(lifetimeOrders),
    spelledAs: read.choice(spellings),
  });
  return { ...rules, markersMax };
}

function parseLookback(value: unknown, place: string): Lookback {
  const kinds = ["positions", "boundaries"] as const;
  const kind = read.oneOf(read.record(value, place)["kind"], kinds, `${place}.kind`);
  return kind === "positions"
    ? read.shape(value, place, {
        kind: read.choice([kind]),
        positions: read.count,
        counting: read.choice(countings),
      })
    : read.shape(value, place, {
        kind: read.choice([kind]),
        explicitFirst: read.count,
        explicitLatest: read.count,
        implicitEarlier: read.count,
      });
}
