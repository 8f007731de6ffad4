// A replay's report and its calls → what its page holds. Names of files are not in it, and text only where excerpts were asked for.
import type { MissCause } from "../../core/diagnosis/explanation.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { CallDetail } from "../../replay/call-detail.ts";
import type { PolicyReport, ReplayReport } from "../../replay/report.ts";
import { headlineOf } from "../../replay/summary/headline.ts";
import { createPricer, type Pricer } from "./price-calls.ts";
import { pictureCalls, type Outcome } from "./picture-recorded.ts";
import type {
  ReplayedCause,
  ReplayedFile,
  ReplayedPicture,
  ReplayedPolicy,
  ReplayedSession,
} from "./file-data.ts";

export interface ReplayedOptions {
  readonly catalogue: Catalogue;
  /** Whether misses show the first words that were not read. */
  readonly excerpts: boolean;
}

/** With cross-sections in the file, and calls of each. */
const sessionsMax = 16;
const callsMax = 300;
const policiesMax = 2;

export function toReplayed(
  report: ReplayReport,
  details: readonly CallDetail[],
  { catalogue, excerpts }: ReplayedOptions,
): ReplayedFile {
  const { summary, limit, limitWarm } = report;
  const ranked = rank(report.policies);
  const price = createPricer(catalogue);
  const bySession = Map.groupBy(details, ({ sessionId }) => sessionId);
  const sessions =
    summary.sessions.length > 0
      ? summary.sessions.map((each) => toBilled(each, bySession.get(each.session)?.length ?? 0))
      : [...bySession]
          .map(([id, calls]) => toUnbilled(id, calls, { best: ranked[0]?.index ?? 0, price }))
          .toSorted((left, right) => right.wouldCostUsd - left.wouldCostUsd);
  const drawn = sessions.filter(({ id }) => bySession.has(id)).slice(0, sessionsMax);
  const shown = new Set(drawn.map(({ id }) => id));
  const callsOf = (id: string): readonly CallDetail[] =>
    shown.has(id) ? (bySession.get(id) ?? []).slice(0, callsMax) : [];
  const drawnCount = drawn.reduce((sum, { id }) => sum + callsOf(id).length, 0);
  return {
    kind: "replay",
    headline: headlineOf(report),
    sessionCount: report.sessions,
    requestCount: report.requests,
    limitUsd: summary.comparison?.limitUsd ?? limit.costUsd,
    limitWarmUsd: summary.comparison === undefined ? limitWarm.costUsd : null,
    recordedUsd: summary.comparison?.recordedUsd ?? null,
    causes: summary.causes.filter(({ lostUsd }) => lostUsd > 0).map(toCause),
    policies: toPolicies(report),
    days: summary.days.map(({ day, paid, wouldCostUsd, lostUsd }) => ({
      day,
      paidUsd: paid.totalUsd,
      wouldCostUsd,
      lostUsd,
    })),
    sessions: sessions.map(({ id, ...session }) => ({
      ...session,
      session: shortName(id),
      pictures: shown.has(id) ? picturesOf(callsOf(id), ranked, price) : [],
    })),
    leftOut: { sessions: bySession.size - shown.size, calls: details.length - drawnCount },
    notes: notesOf(report, excerpts),
  };
}

function toCause({
  lostUsd,
  calls,
  tokens,
  what,
  act,
  advice,
  first,
}: ReplayReport["summary"]["causes"][number]): ReplayedCause {
  return {
    what,
    act,
    advice,
    lostUsd,
    callCount: calls,
    tokens,
    isInferred: first.evidence === "inferred",
    session: shortName(first.session),
    call: first.call,
  };
}

type Figures = Omit<ReplayedSession, "session" | "pictures"> & { readonly id: string };

function toBilled(
  session: ReplayReport["summary"]["sessions"][number],
  callCount: number,
): Figures {
  const { agent, models, at, paid, wouldCostUsd, lostUsd, topCause } = session;
  return {
    id: session.session,
    agent,
    models,
    callCount: callCount === 0 ? paid.requests : callCount,
    startMs: Date.parse(at),
    paidUsd: paid.totalUsd,
    wouldCostUsd,
    lostUsd,
    topCause,
  };
}

function toUnbilled(
  id: string,
  calls: readonly CallDetail[],
  { best, price }: { readonly best: number; readonly price: Pricer },
): Figures {
  return {
    id,
    agent: null,
    models: [...new Set(calls.map(({ model }) => model))],
    callCount: calls.length,
    startMs: calls[0]?.startMs ?? 0,
    paidUsd: null,
    wouldCostUsd: calls.reduce((sum, call) => {
      const usage = call.outcomes[best]?.usage;
      return sum + (usage === undefined ? 0 : (price(call, usage)?.totalUsd ?? 0));
    }, 0),
    lostUsd: null,
    topCause: null,
  };
}

interface Ranked {
  /** Among the outcomes of a call. */
  readonly index: number;
  readonly name: string;
}

/** The cheapest first. */
function rank(policies: readonly PolicyReport[]): readonly Ranked[] {
  return policies
    .map(({ policy, costUsd }, index) => ({ index, name: policy, costUsd }))
    .toSorted((left, right) => left.costUsd - right.costUsd);
}

/**
 * The cheapest first; those that cost the same to the last digit and do the same are one. Where bills are compared, over the
 * requests that have one.
 */
function toPolicies({ policies, summary }: ReplayReport): readonly ReplayedPolicy[] {
  const compared = new Map(
    summary.comparison?.policies.map(({ policy, costUsd }) => [policy, costUsd]),
  );
  const alike = Map.groupBy(policies, (each) =>
    [each.costPicoUsd, each.readTokens, each.uncachedTokens].join(),
  );
  return [...alike.values()]
    .flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : [
            toPolicy(
              { ...first, costUsd: compared.get(first.policy) ?? first.costUsd },
              [first, ...others].map(({ policy }) => policy),
            ),
          ],
    )
    .toSorted((left, right) => left.usd - right.usd);
}

function toPolicy(report: PolicyReport, names: readonly string[]): ReplayedPolicy {
  const { writeTokens } = report;
  return {
    names,
    usd: report.costUsd,
    hitRate: report.hitRate,
    readTokens: report.readTokens,
    writtenTokens: writeTokens["5m"] + writeTokens["30m"] + writeTokens["1h"],
    freshTokens: report.uncachedTokens,
    wastedTokens: report.wastedWriteTokens,
    misses: missesOf(report.missesByCause),
  };
}

function missesOf(causes: PolicyReport["missesByCause"]): ReplayedPolicy["misses"] {
  const named: readonly (readonly [string, PolicyReport["missesByCause"][MissCause]])[] =
    Object.entries(causes);
  return named
    .flatMap(([cause, miss]) =>
      miss === undefined
        ? []
        : [{ cause, count: miss.count, tokens: miss.tokens, usd: miss.costUsd }],
    )
    .toSorted((left, right) => right.usd - left.usd);
}

/** As it was billed, and under the two cheapest policies. */
function picturesOf(
  calls: readonly CallDetail[],
  ranked: readonly Ranked[],
  price: Pricer,
): readonly ReplayedPicture[] {
  const isBilled = calls.some(({ recorded }) => recorded !== null);
  const billed = { name: "it was billed", calls: pictureCalls(calls, asBilled, price) };
  const under = ranked.slice(0, policiesMax).map(({ index, name }) => ({
    name: `${name} would have it`,
    calls: pictureCalls(calls, (call) => call.outcomes[index] ?? null, price),
  }));
  return isBilled ? [billed, ...under] : under;
}

function asBilled({ recorded, recordedCause }: CallDetail): Outcome | null {
  if (recorded === null) return null;
  const isMiss =
    recordedCause !== null && recordedCause !== "no miss" && recordedCause !== "first call";
  return { usage: recorded, miss: isMiss ? { cause: recordedCause, tokens: null } : null };
}

/** Some readers name a session by the path of its file: where it lies is nobody's business. */
function shortName(id: string): string {
  return /^(?:\/|[A-Za-z]:\\|~\/|\.\.?\/)/.test(id) ? (id.split(/[/\\]/).at(-1) ?? id) : id;
}

function notesOf(report: ReplayReport, excerpts: boolean): readonly string[] {
  const { automaticOnly, billedOnly, standIns, skipped } = report;
  return [
    ...(excerpts
      ? ["this page holds excerpts of the recorded sessions: look at it before you share it"]
      : []),
    ...(automaticOnly === undefined
      ? []
      : [
          `apart from the figures: ${automaticOnly.requests} requests to providers that take no markers, $${automaticOnly.costUsd.toFixed(2)}`,
        ]),
    ...(billedOnly === undefined
      ? []
      : [
          `apart from the figures: ${billedOnly.requests} requests without prompts, $${billedOnly.costUsd.toFixed(2)} as billed`,
        ]),
    ...standIns.map(({ reason, count }) => `${reason} (${count})`),
    ...skipped.map(({ reason, count }) => `skipped: ${reason} (${count})`),
  ];
}
