// Goal: the referee's bills are right. Method: a second, naive reading of the same rules bills random streams.
import { describe, expect, test } from "vitest";
import {
  compareStreams,
  findDisagreement,
  naiveContestant,
  randomOptions,
  type Flaw,
} from "../../harness/naive/compare-billing.ts";
import type { Past } from "../../harness/naive/naive-billing.ts";
import type { StorageAct } from "../../harness/naive/naive-storage.ts";
import { createRandom } from "../../harness/random-message.ts";
import { randomStream } from "../../harness/random/random-requests.ts";
import type { MarkerRules } from "../../src/core/models/marker-rules.ts";
import type { BillableRequest } from "../../src/simulator/billing/billable-request.ts";
import type { BillingOptions } from "../../src/simulator/billing/options.ts";

const others: readonly Partial<BillingOptions>[] = [
  { unpublishedBoundary: "nothing" },
  { unpublishedSeconds: 3_600 },
  { unpublishedMinimumTokens: 64 },
  { clock: "response end" },
  { graceMs: 10_000 },
  { markerBeforeHit: "writes" },
  { crossLifetime: "not found" },
  { entryLives: "as its shortest part" },
  { entryInsideRun: "only at the run's end" },
  { toolDefinitions: "one position" },
  { toolRuns: "every block" },
];

test("2,000 random requests are billed as the naive reading bills them", () => {
  const { steps, hits, shortestLog } = compareStreams({
    seed: 20_261_115,
    streams: 50,
    requests: 40,
    optionsOf: () => ({}),
  });
  expect(shortestLog).toBeNull();
  expect(steps).toBe(2000);
  expect(hits).toBeGreaterThan(250);
});

test("2,000 requests to vendors without markers, to several hosts and to servers of one's own too", () => {
  const { steps, hits, shortestLog } = compareStreams({
    seed: 20_261_118,
    streams: 50,
    requests: 40,
    optionsOf: (random) => (random() < 0.5 ? {} : randomOptions(random)),
    keeps: () => true,
  });
  expect(shortestLog).toBeNull();
  expect(steps).toBe(2000);
  expect(hits).toBeGreaterThan(250);
});

test.each(others)("with %j too", (options) => {
  const work = { seed: 3, streams: 15, requests: 40, optionsOf: () => options };
  expect(compareStreams(work).shortestLog).toBeNull();
});

test("with options drawn at random too", () => {
  const work = { seed: 5, streams: 20, requests: 40, optionsOf: randomOptions };
  expect(compareStreams(work).shortestLog).toBeNull();
});

describe("the comparison sees", () => {
  test.each(others)("that billing with %j is not the default", (options) => {
    const isUnpublished = Object.keys(options).some((name) => name.startsWith("unpublished"));
    const model = isUnpublished ? "gemini-4-argon" : "claude-sonnet-5-5";
    expect(isSeen(model, {}, options)).toBe(true);
  });

  const flaws: Readonly<
    Record<string, Flaw & { readonly model: string; readonly keeps?: boolean }>
  > = {
    "a lookback of 21": { model: "claude-sonnet-5-5", misread: lookback({ positions: 21 }) },
    "a lookback of 19": { model: "claude-sonnet-5-5", misread: lookback({ positions: 19 }) },
    "runs counted block by block": {
      model: "claude-sonnet-5-5",
      misread: lookback({ counting: "every block" }),
    },
    "the third explicit marker looked up": {
      model: "gpt-6.1-sol",
      misread: lookback({ explicitFirst: 3 }),
    },
    "one explicit marker too few looked up": {
      model: "gpt-6.1-sol",
      misread: lookback({ explicitLatest: 49 }),
    },
    "one message too many looked up": {
      model: "gpt-6.1-sol",
      misread: lookback({ implicitEarlier: 21 }),
    },
    "a fifth slot": {
      model: "gpt-6.1-sol",
      misread: markers((rules) => ({ ...rules, markersMax: 5 })),
    },
    "implicit boundaries in explicit mode": {
      model: "gpt-6.1-sol",
      misread: (request) => ({ ...request, mode: "implicit" }),
    },
    "steps of another size": {
      model: "gpt-4o",
      misread: cache(({ automatic }) => ({
        automatic: automatic && {
          ...automatic,
          stepTokens: (automatic.stepTokens ?? automatic.reportedInSteps ?? 1) * 2,
        },
      })),
    },
    "a minimum that is one token higher": {
      model: "claude-haiku-4-5",
      misread: cache(({ minimumTokens }) => ({ minimumTokens: (minimumTokens ?? 0) + 1 })),
    },
    "lifetimes that are one millisecond longer": {
      model: "claude-haiku-4-5",
      misread: cache(({ lifetimes }) => ({
        lifetimes: lifetimes.map((each) => ({ ...each, seconds: each.seconds + 0.001 })),
      })),
    },
    "settings that do not matter": {
      model: "claude-sonnet-5-5",
      misread: cache(() => ({ invalidation: [] })),
    },
    "settings that lose the tools as well": {
      model: "claude-sonnet-5-5",
      misread: cache(({ invalidation }) => ({
        invalidation: invalidation.map((rule) => ({ ...rule, survives: [] })),
      })),
    },
    "one cache for all hosts": {
      model: "claude-sonnet-4-6",
      keeps: true,
      misread: (request) => ({ ...request, host: "one" }),
    },
    "units that are kept wherever a message ends": {
      model: "deepseek-flash",
      keeps: true,
      misread: keeping({ boundary: "ends of messages" }),
    },
    "prefixes of any length where only ends of messages are kept": {
      model: "grok-4.7",
      keeps: true,
      misread: keeping({ boundary: "every step" }),
    },
    "blocks of another size": {
      model: "vllm/llama",
      keeps: true,
      misread: keeping({ stepTokens: 32 }),
    },
    "idle time that is one second longer": {
      model: "mistral-large-4",
      keeps: true,
      misread: keeping({ keptSeconds: 301 }),
    },
    "a slot too many": {
      model: "llama.cpp/gemma",
      keeps: true,
      misread: keeping({ slots: 2 }),
    },
    "slots that keep what was in them before": {
      model: "llama.cpp/qwen",
      keeps: true,
      misread: keeping({ boundary: "every step" }),
    },
    "one workspace for all": {
      model: "claude-sonnet-5-5",
      misread: (request) => ({ ...request, workspace: "one" }),
    },
    "reads that do not refresh": {
      model: "claude-sonnet-5-5",
      spoil: ({ log }) => forget(log, "refreshed"),
    },
    "expired entries that a marker at or before the hit brings back": {
      model: "claude-sonnet-5-5",
      spoil: ({ log }) => bringBack(log),
    },
    "stored prefixes that live one millisecond longer": {
      model: "gemini-3.8-flash",
      spoil: ({ acts }) => changeActs(acts, (act) => (act.kind === "remove" ? act : longer(act))),
    },
    "stored prefixes that are never removed": {
      model: "gemini-3.8-flash",
      spoil: ({ acts }) => changeActs(acts, (act) => (act.kind === "remove" ? null : act)),
    },
    "stored prefixes that are not kept for another time": {
      model: "gemini-3.8-flash",
      spoil: ({ acts }) => changeActs(acts, (act) => (act.kind === "keep" ? null : act)),
    },
    "stored prefixes that every workspace reads": {
      model: "gemini-3.8-flash",
      misread: (request) =>
        request.stored === undefined ? request : { ...request, workspace: "office" },
    },
    "stored prefixes that are not found": {
      model: "gemini-3.8-flash",
      misread: ({ stored, ...request }) =>
        stored === undefined ? request : { ...request, stored: "another" },
    },
    "entries readable before the response begins": {
      model: "claude-sonnet-5-5",
      spoil({ log }) {
        for (const past of log) past.begun = true;
      },
    },
  };

  test.each(Object.entries(flaws))("%s", (_name, { model, keeps = false, ...flaw }) => {
    expect(isSeen(model, {}, {}, flaw, keeps)).toBe(true);
  });

  test("nothing where there is nothing", () => {
    expect(isSeen("claude-sonnet-5-5", {}, {})).toBe(false);
  });
});

/** Whether some stream tells a right billing and a wrong one apart. */
function isSeen(
  only: string,
  options: Partial<BillingOptions>,
  wrongOptions: Partial<BillingOptions>,
  flaw?: Flaw,
  keeps = false,
): boolean {
  for (let index = 0; index < 60; index += 1) {
    const events = randomStream(createRandom(index), { requests: 40, graceMs: 0, only, keeps });
    const wrong = naiveContestant(wrongOptions, flaw);
    if (findDisagreement(events, naiveContestant(options), wrong) !== null) return true;
  }
  return false;
}

/** The log of stored prefixes with each act changed, or left out. */
function changeActs(acts: StorageAct[], change: (act: StorageAct) => StorageAct | null): void {
  acts.splice(0, acts.length, ...acts.flatMap((act) => change(act) ?? []));
}

function longer(act: Exclude<StorageAct, { kind: "remove" }>): StorageAct {
  if (act.kind === "keep") return { ...act, expiresMs: act.expiresMs + 1 };
  return { ...act, prefix: { ...act.prefix, expiresMs: act.prefix.expiresMs + 1 } };
}

function forget(log: readonly Past[], how: Past["touches"][number]["how"]): void {
  for (const past of log) past.touches = past.touches.filter((touch) => touch.how !== how);
}

/** The last request also writes what its markers at refreshed places once wrote. */
function bringBack(log: readonly Past[]): void {
  const last = log.at(-1);
  if (last === undefined) return;
  const refreshed = new Set(
    last.touches.map(({ block, how }) => (how === "refreshed" ? block : -1)),
  );
  const writtenOnce = last.request.markers.filter(
    ({ block, lifetime }) =>
      refreshed.has(block) &&
      log.some((past) =>
        past.touches.some((touch) => touch.block === block && touch.lifetime === lifetime),
      ),
  );
  const touches = writtenOnce.map(({ block, lifetime }) => ({
    block,
    lifetime,
    how: "written" as const,
  }));
  last.touches = [...last.touches, ...touches];
}

type Misread = (request: BillableRequest) => BillableRequest;
type Cache = BillableRequest["model"]["cache"];

function keeping(change: Partial<NonNullable<BillableRequest["keeping"]>>): Misread {
  return ({ keeping: kept, ...request }) =>
    kept === undefined ? request : { ...request, keeping: { ...kept, ...change } };
}

function cache(change: (cache: Cache) => Partial<Cache>): Misread {
  return (request) => {
    const changed = { ...request.model.cache, ...change(request.model.cache) };
    return { ...request, model: { ...request.model, cache: changed } };
  };
}

function markers(change: (rules: MarkerRules) => MarkerRules): Misread {
  return cache((rules) => ({ markers: rules.markers && change(rules.markers) }));
}

function lookback(change: Partial<Record<string, number | string>>): Misread {
  return markers((rules) => ({ ...rules, lookback: { ...rules.lookback, ...change } }));
}
