// Data for the page's cross-section: a few sessions with a few calls each, by column. Numbers only, except for
// excerpts.
import { noUsage, promptTokens, writtenTokens } from "../../core/message/usage.ts";
import type { CallDetail } from "../call-detail.ts";
import type { ReplayReport } from "../report.ts";
import { cheapestIndex } from "./cheapest.ts";

export interface PageData {
  readonly policies: readonly string[];
  /** The cheapest policy. */
  readonly best: number;
  readonly causes: readonly string[];
  readonly models: readonly string[];
  /** Excerpts of first unread blocks; absent by default. */
  readonly excerpts?: readonly string[];
  readonly sessions: readonly PageSession[];
}

/** Every list except `threads` and `outcomes` has one entry per embedded call. */
export interface PageSession {
  readonly id: string;
  readonly file: string;
  /** Includes calls that are not embedded. */
  readonly callCount: number;
  /** Since the previous call; 0 for the first. */
  readonly gapsMs: readonly number[];
  /** Indices into the page's models. */
  readonly models: readonly number[];
  readonly threads: readonly string[];
  /** Indices into the session's threads. */
  readonly threadOf: readonly number[];
  /** Tokens of tools, system text, history and outside all tiers, in wire order. */
  readonly bands: readonly (readonly number[])[];
  /** In the order of the policies. */
  readonly outcomes: readonly PageOutcome[];
}

export interface PageOutcome {
  readonly read: readonly number[];
  readonly written: readonly number[];
  readonly misses: readonly PageMiss[];
}

/** Call, index into the page's causes, tokens, and optionally an index into the page's excerpts. */
export type PageMiss = readonly [number, number, number, number?];

export interface LeftOut {
  readonly sessions: number;
  readonly calls: number;
}

export interface PageOptions {
  /** Whether misses show an excerpt of the first unread block. */
  readonly excerpts?: boolean;
}

export const sessionsMax = 40;
export const callsMax = 400;

/** The sessions with the most calls, and counts of what is left out. */
export function toPageData(
  report: ReplayReport,
  details: readonly CallDetail[],
  { excerpts = false }: PageOptions = {},
): { readonly data: PageData; readonly leftOut: LeftOut } {
  const bySession = Map.groupBy(details, ({ sessionId }) => sessionId);
  const chosen = [...bySession.values()]
    .toSorted((left, right) => right.length - left.length)
    .slice(0, sessionsMax);
  const shown = chosen.flatMap((calls) => calls.slice(0, callsMax));
  const names: Names = {
    policies: report.policies.map(({ policy }) => policy),
    causes: distinct(shown.flatMap(causesOf)),
    models: distinct(shown.map(({ model }) => model)),
    ...(excerpts ? { excerpts: distinct(shown.flatMap(excerptsOf)) } : {}),
  };
  const places = new Map(names.excerpts?.map((excerpt, place) => [excerpt, place]));
  const sessions = chosen.map((calls) => toSession(calls, names, places));
  return {
    data: { ...names, best: cheapestIndex(report.policies), sessions },
    leftOut: {
      sessions: bySession.size - chosen.length,
      calls: details.length - shown.length,
    },
  };
}

type Names = Pick<PageData, "policies" | "causes" | "models" | "excerpts">;

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

function causesOf({ outcomes }: CallDetail): string[] {
  return outcomes.flatMap(({ miss }) => (miss === null ? [] : [miss.cause]));
}

function excerptsOf({ outcomes }: CallDetail): string[] {
  return outcomes.flatMap(({ miss }) => (miss?.excerpt === undefined ? [] : [miss.excerpt]));
}

type Places = ReadonlyMap<string, number>;

function toSession(all: readonly CallDetail[], names: Names, excerpts: Places): PageSession {
  const calls = all.slice(0, callsMax);
  const threads = distinct(calls.map(({ thread }) => thread));
  return {
    id: all[0]?.sessionId ?? "",
    file: all[0]?.file ?? "",
    callCount: all.length,
    gapsMs: calls.map(({ startMs }, index) =>
      Math.max(0, Math.round(startMs - (calls[index - 1]?.startMs ?? startMs))),
    ),
    models: calls.map(({ model }) => names.models.indexOf(model)),
    threads,
    threadOf: calls.map(({ thread }) => threads.indexOf(thread)),
    bands: [
      calls.map(({ tierTokens }) => tierTokens.T0),
      calls.map(({ tierTokens }) => tierTokens.T1 + tierTokens.T2),
      calls.map(({ tierTokens }) => tierTokens.T3),
      calls.map(outsideTiers),
    ],
    outcomes: names.policies.map((_, policy) => toOutcome(calls, policy, names.causes, excerpts)),
  };
}

/** Prompt tokens that were billed and belong to no recorded block. */
function outsideTiers({ tierTokens, outcomes }: CallDetail): number {
  const { T0, T1, T2, T3 } = tierTokens;
  const prompt = Math.max(0, ...outcomes.map(({ usage }) => promptTokens(usage)));
  return Math.max(0, prompt - T0 - T1 - T2 - T3);
}

function toOutcome(
  calls: readonly CallDetail[],
  policy: number,
  causes: readonly string[],
  excerpts: Places,
): PageOutcome {
  const outcomes = calls.map((call) => call.outcomes[policy] ?? { usage: noUsage, miss: null });
  return {
    read: outcomes.map(({ usage }) => usage.cacheReadTokens),
    written: outcomes.map(({ usage }) => writtenTokens(usage)),
    misses: outcomes.flatMap(({ miss }, call) => {
      if (miss === null) return [];
      const figures = [call, causes.indexOf(miss.cause), miss.tokens] as const;
      const place = excerpts.get(miss.excerpt ?? "");
      return [place === undefined ? figures : ([...figures, place] as const)];
    }),
  };
}
