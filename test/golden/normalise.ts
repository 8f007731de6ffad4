// What differs from run to run gets a name by order of appearance; long texts and hashes get short.
import { hash } from "node:crypto";

/** When the clock of every scenario starts: a day for which the models have prices. */
export const startMs: number = Date.UTC(2026, 10, 15, 12);

/** Longer ones are kept as hash and length. */
const charactersMax = 200;

export interface Names {
  /** The text with every random id named. */
  inText(text: string): string;
  /** A whole value, ready for a record. */
  inValue(value: unknown): unknown;
}

/** `ours`: texts of this run alone, such as a folder, and what stands for each. */
export function createNames(ours: Readonly<Record<string, string>> = {}): Names {
  const known = new Map<string, string>();
  const nameOf = (id: string): string => {
    const name = known.get(id) ?? `id-${known.size + 1}`;
    known.set(id, name);
    return name;
  };
  const inText = (text: string): string => {
    let named = text;
    for (const [own, name] of Object.entries(ours)) named = named.replaceAll(own, name);
    return named.replace(ids, nameOf).replace(holders, "golden:token");
  };
  const inValue = (value: unknown): unknown => {
    if (typeof value === "string") return toShort(inText(value));
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "number") return toTime(value);
    if (Array.isArray(value)) return value.map(inValue);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).filter(
      ([key, each]) => each !== undefined && !newerKeys.has(key),
    );
    return Object.fromEntries(entries.map(([key, each]) => [inText(key), inValue(each)]));
  };
  return { inText, inValue };
}

/** Stored keys that the records are older than. */
const newerKeys: ReadonlySet<string> = new Set([
  "strataTools",
  "messageId",
  "createdMs",
  "resultMessageId",
  "sizes",
  "tiers",
  "switches",
  "routing_policy_version",
  "inherited",
  "account",
  "accounts",
  "isStep",
  "steps last",
  "reasoning_output_tokens",
  "cache_policy",
  "marker_count",
  "planned_read_tokens",
  "saved_usd",
]);

/** UUIDs and ULIDs. Ids of the simulator are the same in every run. */
const ids =
  /\b(?:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0[0-9A-HJKMNP-TV-Z]{25})\b/g;

/** Who holds a lease. */
const holders = /\bgolden:[0-9a-f]{8}\b/g;

export function sha256(content: string): string {
  return hash("sha256", content, "hex");
}

function toShort(text: string): unknown {
  if (/^[0-9a-f]{64}$/.test(text)) return `#${text.slice(0, 8)}`;
  if (text.length <= charactersMax) return text;
  return { sha256: sha256(text).slice(0, 12), length: text.length };
}

/** Moments, in milliseconds or microseconds, as time since the start. */
function toTime(value: number): unknown {
  for (const scale of [1, 1000]) {
    const sinceMs = value / scale - startMs;
    if (Math.abs(sinceMs) < 1e9) return `t${sinceMs < 0 ? "" : "+"}${sinceMs}`;
  }
  return value;
}
