// Recorded sessions under every policy, compared with the limit and with the real bills.
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
import { findTraces } from "../harness/traces.ts";
import { measureBilled } from "./replay/billed.ts";
import { checkPromise } from "./replay/promise.ts";
import { checkNoStep, checkRevived } from "./replay/readings.ts";
import { halfRatios, watchSessions, type SessionCosts } from "./replay/sessions.ts";
import { listPolicies } from "../src/core/cache/policies.ts";
import { loadO200k } from "../src/core/tokens/o200k/counter.ts";
import { readRecordings } from "../src/replay/readers/read-recordings.ts";
import { replay } from "../src/replay/replay.ts";
import type { ReplayReport } from "../src/replay/report.ts";
import { measureSpeed } from "./replay/speed.ts";
import { measureKeepWarm } from "./replay/keep-warm.ts";

export const experiment: Experiment = {
  summary:
    "recorded sessions under every policy, the limit, and recorded reads (needs --traces DIR)",
  async run({ traces, progress }) {
    if (traces === undefined)
      throw new UsageError("give --traces DIR with kv/ and sessions/ in it");
    const found = findTraces(traces);
    const counter = await loadO200k();
    const figures: Record<string, Figure> = {};
    const checks: Check[] = [];
    const everySession: SessionCosts[] = [];
    for (const [folder, limit] of limits) {
      const path = found[folder];
      if (path === undefined) continue;
      progress(`${folder}: every policy`);
      const startMs = performance.now();
      const watch = watchSessions(path);
      const report = await replay(readRecordings([path], { counter }), {
        policies: listPolicies(),
        model: null,
        groupBy: "session",
        onCall: watch.onCall,
      });
      if (report.requests === 0) throw new UsageError(`no request could be read from ${path}`);
      const seconds = (performance.now() - startMs) / 1000;
      for (const { policy, ratioToLimit } of report.policies) {
        figures[`${folder} ${policy} x limit`] = ratioToLimit;
      }
      const sessions = watch.read(report);
      everySession.push(...sessions);
      Object.assign(figures, halfRatios(folder, sessions));
      figures[`${folder} requests`] = report.requests;
      figures[`${folder} requests/s`] = report.requests / seconds;
      const adaptive = costOf(report, "adaptive");
      const others = report.policies.filter(({ policy }) => policy !== "adaptive");
      const cheaper = others.filter(({ costUsd }) => costUsd <= adaptive);
      checks.push(
        atMost(`${folder}: adaptive x limit`, ratioOf(report, "adaptive"), limit),
        exactly(`${folder}: policies not above adaptive`, cheaper.length, 0),
      );
      if (folder === "kv") {
        const { figures: ofWarm, checks: warm } = await measureKeepWarm(folder, path, counter);
        Object.assign(figures, ofWarm);
        const near = atLeast("kv: traces within 5 % of the better tail", nearBest(report), 0.95);
        checks.push(near, await checkNoStep(path, counter), ...warm);
      }
      checks.push(await checkRevived(folder, path, counter));
      if (folder === "sessions") {
        const errors = readErrors(report);
        figures["sessions with recorded reads"] = errors.length;
        checks.push(
          atMost("recorded reads: median error per session", quantile(errors, 0.5), 0.003),
          atMost("recorded reads: p90", quantile(errors, 0.9), 0.04),
        );
        progress("sessions: prompts against their bills");
        const billed = await measureBilled(path, report, counter);
        Object.assign(figures, billed.figures);
        checks.push(...billed.checks);
      }
    }
    const promise = checkPromise(everySession);
    progress("one command over everything");
    const speed = measureSpeed(Object.values(found));
    return {
      figures: { ...figures, ...promise.figures, ...speed.figures },
      checks: [...checks, ...promise.checks, ...speed.checks],
    };
  },
};

/** Under the referee's reading, in which an expired entry does not come back by being marked (docs/decisions/0028). */
const limits = [
  ["kv", 1.04],
  ["sessions", 1.015],
] as const;

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

/** Sessions of Claude Code, whose markers are known, that read enough for a share to mean something. */
function readErrors({ recordedReads }: ReplayReport): number[] {
  return recordedReads
    .filter(({ agent, caching }) => agent === "claude-code" && caching === "markers")
    .filter(({ recordedReadTokens }) => recordedReadTokens >= 10_000)
    .flatMap(({ error }) => error ?? []);
}
