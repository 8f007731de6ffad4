// Totals that include cache reads and writes → disjoint buckets.
import { fieldsOf, isCount, isObject, textIn, type Fields } from "../../message/fields.ts";
import {
  lifetimes,
  noUsage,
  writtenTokens,
  type Lifetime,
  type Usage,
} from "../../message/usage.ts";
import { toPicoUsd } from "../../models/pico-usd.ts";
import type { ReportedUsage } from "../reply.ts";

/** Counts from a provider; undefined if absent. */
export interface ReportedCounts {
  /** Includes cache reads and writes. */
  readonly promptTokens: number | undefined;
  readonly readTokens: number | undefined;
  readonly writtenTokens: number | undefined;
  readonly writtenPerLifetime: Readonly<Partial<Record<Lifetime, number>>>;
  /** Includes reasoning tokens. */
  readonly generatedTokens: number | undefined;
  readonly reasoningTokens: number | undefined;
  /** Tokens of prompt and reply. More than both together if thinking is counted apart from the reply. */
  readonly totalTokens?: number | undefined;
  /** In dollars. */
  readonly costUsd?: number | undefined;
  readonly prefillMs?: number | undefined;
  /** As the provider says it, the usual one too. */
  readonly serviceTier?: string | undefined;
}

/** The lifetime of a write if the provider names none. */
const defaultLifetime: Lifetime = "30m";

export function toReportedUsage(counts: ReportedCounts, warnings: string[]): ReportedUsage {
  const { cacheWriteTokens, unnamed } = writesOf(counts, warnings);
  const cacheReadTokens = counts.readTokens ?? 0;
  const { generatedTokens, reasoningTokens } = generatedOf(counts);
  const written = writtenTokens({ ...noUsage, cacheWriteTokens });
  const usage: Usage = {
    uncachedTokens: restOf(
      counts.promptTokens ?? 0,
      cacheReadTokens + written,
      "prompt tokens, of which read and written",
      warnings,
    ),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: restOf(
      generatedTokens,
      reasoningTokens,
      "generated tokens, of which reasoning",
      warnings,
    ),
    reasoningTokens,
  };
  return {
    usage,
    isReported: counts.promptTokens !== undefined || counts.generatedTokens !== undefined,
    reportsCache: counts.readTokens !== undefined,
    ...(unnamed > 0 && { unnamedWriteTokens: { tokens: unnamed, standsAs: defaultLifetime } }),
    ...(counts.costUsd !== undefined && { costPicoUsd: toPicoUsd(counts.costUsd) }),
    ...(counts.prefillMs !== undefined && { prefillMs: counts.prefillMs }),
    ...(isUnusual(counts.serviceTier) && { serviceTier: counts.serviceTier }),
    warnings,
  };
}

/** `auto` is what was asked for, and not yet what was served. */
const usualTiers: ReadonlySet<string> = new Set(["", "auto", "default", "standard", "on_demand"]);

function isUnusual(tier: string | undefined): tier is string {
  return tier !== undefined && !usualTiers.has(tier);
}

/** The counts of an answer with the service that it names beside them. */
export function withServiceTier(usage: unknown, answer: Fields): unknown {
  const tier = isObject(usage) ? textIn(answer, "service_tier") : undefined;
  return tier === undefined ? usage : { ...fieldsOf(usage), service_tier: tier };
}

/** Some providers count thinking apart from the reply; their total shows which. */
function generatedOf({
  promptTokens = 0,
  generatedTokens = 0,
  reasoningTokens = 0,
  totalTokens = 0,
}: ReportedCounts): { readonly generatedTokens: number; readonly reasoningTokens: number } {
  const apart = totalTokens - promptTokens - generatedTokens;
  if (promptTokens === 0 || apart <= 0) return { generatedTokens, reasoningTokens };
  const isApart = reasoningTokens === 0 || reasoningTokens === apart;
  if (!isApart) return { generatedTokens, reasoningTokens };
  return { generatedTokens: generatedTokens + apart, reasoningTokens: apart };
}

/** Reads counts and warns of what is none: negative, in parts, not a number. */
export function createCountReader(
  warnings: string[],
): (fields: Fields, name: string) => number | undefined {
  return (fields, name) => {
    const value = fields[name] ?? undefined;
    if (value === undefined || isCount(value)) return value;
    const shown = typeof value === "number" ? String(value) : typeof value;
    warnings.push(`${name} is no count (${shown}) and taken as absent`);
    return undefined;
  };
}

/** For a reply without any usage. */
export function unreportedUsage(): ReportedUsage {
  const warnings = ["the reply reports no usage"];
  return { usage: noUsage, isReported: false, reportsCache: false, warnings };
}

function writesOf(
  { writtenTokens: total, writtenPerLifetime }: ReportedCounts,
  warnings: string[],
): { readonly cacheWriteTokens: Usage["cacheWriteTokens"]; readonly unnamed: number } {
  const writes: Partial<Record<Lifetime, number>> = {};
  let named = 0;
  for (const lifetime of lifetimes) {
    const tokens = writtenPerLifetime[lifetime] ?? 0;
    if (tokens > 0) writes[lifetime] = tokens;
    named += tokens;
  }
  const unnamed = (total ?? named) - named;
  if (named > 0 && unnamed !== 0) {
    warnings.push(`${total} tokens written, but ${named} by lifetime`);
  }
  if (unnamed > 0) writes[defaultLifetime] = (writes[defaultLifetime] ?? 0) + unnamed;
  return { cacheWriteTokens: writes, unnamed: named === 0 ? (total ?? 0) : 0 };
}

function restOf(total: number, part: number, what: string, warnings: string[]): number {
  if (part > total) warnings.push(`${total} ${what} ${part}: the rest is taken as 0`);
  return Math.max(0, total - part);
}
