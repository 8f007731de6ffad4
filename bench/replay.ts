// Recorded sessions under every policy, compared with the limit and with the real bills.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { quantile } from "../harness/measure.ts";
import {
  atLeast,
  atMost,
  exactly,
  UsageError,
  type Check,
  type Experiment,
  type Figure,
} from "../harness/report.ts";
import { listPolicies } from "../src/core/cache/policies.ts";
import type { MarkerPart } from "../src/core/cache/policy.ts";
import type { Lifetime } from "../src/core/message/usage.ts";
import { loadO200k, type TextCounter } from "../src/core/tokens/o200k/counter.ts";
import type { Recorded } from "../src/replay/recording.ts";
import { readRecordings } from "../src/replay/readers/read-recordings.ts";
import { replay } from "../src/replay/replay.ts";
import { createModelLookup } from "../src/replay/replay-model.ts";
import { replayWorkspace } from "../src/replay/replay-workspace.ts";
import type { ReplayReport } from "../src/replay/report.ts";

export const experiment: Experiment = {
  summary:
    "recorded sessions under every policy, the limit, and recorded reads (needs --traces DIR)",
  async run({ traces, progress }) {
    if (traces === undefined)
      throw new UsageError("give --traces DIR with kv/ and sessions/ in it");
    const counter = await loadO200k();
    const figures: Record<string, Figure> = {};
    const checks: Check[] = [];
    for (const [folder, limit] of [
      ["kv", 1.06],
      ["sessions", 1.04],
    ] as const) {
      progress(`${folder}: every policy`);
      const startMs = performance.now();
      const report = await replay(readRecordings([join(traces, folder)], { counter }), {
        policies: listPolicies(),
        model: null,
        groupBy: "session",
      });
      const seconds = (performance.now() - startMs) / 1000;
      for (const { policy, ratioToLimit } of report.policies) {
        figures[`${folder} ${policy} x limit`] = ratioToLimit;
      }
      figures[`${folder} requests`] = report.requests;
      figures[`${folder} requests/s`] = report.requests / seconds;
      const adaptive = costOf(report, "adaptive");
      const others = report.policies.filter(({ policy }) => policy !== "adaptive");
      const cheaper = others.filter(({ costUsd }) => costUsd <= adaptive);
      checks.push(
        atMost(`${folder}: adaptive x limit`, ratioOf(report, "adaptive"), limit),
        exactly(`${folder}: policies not above adaptive`, cheaper.length, 0),
      );
      if (folder === "kv")
        checks.push(atLeast("kv: traces within 5 % of the better tail", nearBest(report), 0.95));
    }
    progress("recorded reads");
    const errors = await recordedReadErrors(join(traces, "sessions"), counter);
    figures["sessions with recorded reads"] = errors.length;
    figures["recorded reads, 90 % of sessions below"] = quantile(errors, 0.9);
    checks.push(
      atMost("recorded reads: median error per session", quantile(errors, 0.5), 0.04),
      atMost("RSS MB of one command over everything", rssOf(traces), 400),
    );
    return { figures, checks };
  },
};

/** In a new process, because this one has read everything twice. */
function rssOf(traces: string): number {
  const program = fileURLToPath(new URL("../harness/cli-rss.ts", import.meta.url));
  const words = [program, "replay", join(traces, "kv"), join(traces, "sessions"), "--json"];
  return Number(execFileSync(process.execPath, words, { encoding: "utf8" }));
}

function costOf(report: Pick<ReplayReport, "policies">, name: string): number {
  return report.policies.find(({ policy }) => policy === name)?.costUsd ?? NaN;
}

function ratioOf(report: ReplayReport, name: string): number {
  return report.policies.find(({ policy }) => policy === name)?.ratioToLimit ?? NaN;
}

function nearBest({ groups }: ReplayReport): number {
  const near = groups.filter((group) => {
    const best = Math.min(costOf(group, "tail-5m"), costOf(group, "tail-1h"));
    return costOf(group, "adaptive") <= 1.05 * best;
  });
  return near.length / groups.length;
}

type RequestOf = Extract<Recorded, { type: "request" }>["request"];

interface Gathered {
  readonly session: Extract<Recorded, { type: "session" }>["session"];
  readonly requests: RequestOf[];
}

/** Replays Claude Code's markers with lifetimes from the end of the response, and compares reads with the recorded ones. */
async function recordedReadErrors(folder: string, counter: TextCounter): Promise<number[]> {
  const errors: number[] = [];
  let gathered: Gathered | null = null;
  const settle = (): void => {
    if (gathered?.session.agent === "claude-code") errors.push(...errorOf(gathered));
  };
  for await (const recorded of readRecordings([folder], { counter })) {
    if (recorded.type === "request") gathered?.requests.push(recorded.request);
    if (recorded.type !== "session") continue;
    settle();
    gathered = { session: recorded.session, requests: [] };
  }
  settle();
  return errors;
}

const lookUp = createModelLookup(null);

function errorOf({ session, requests }: Gathered): number[] {
  const timed = requests.flatMap((request) => {
    const { facts } = lookUp(session, request);
    if (request.startMs === null || request.usage === null || facts.cache.markers === null)
      return [];
    return [{ request, startMs: request.startMs, model: facts, isMain: request.thread === "" }];
  });
  const markers = claudeCodeMarkers(timed.map(({ request }) => request));
  let [simulated, recorded] = [0, 0];
  for (const { timed: each, outcomes } of replayWorkspace(session.id, timed, [{ markers }], {
    clock: "response end",
  })) {
    // Another session may have warmed the first request.
    if (each === timed[0]) continue;
    simulated += outcomes[0]?.usage.cacheReadTokens ?? 0;
    recorded += each.request.usage?.cacheReadTokens ?? 0;
  }
  return recorded < 10_000 ? [] : [Math.abs(simulated - recorded) / recorded];
}

/** Markers at the end of the system prompt and the last message, with the lifetime from the session's bills. */
function claudeCodeMarkers(requests: readonly RequestOf[]): MarkerPart {
  const written = (lifetime: Lifetime): number =>
    requests.reduce((sum, { usage }) => sum + (usage?.cacheWriteTokens[lifetime] ?? 0), 0);
  const lifetime = written("1h") > written("5m") ? "1h" : "5m";
  return {
    kind: "rules",
    rules: [
      { place: { at: "tail" }, lifetime },
      { place: { at: "last stable system block" }, lifetime },
    ],
  };
}
