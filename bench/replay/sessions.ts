// What each recorded session costs under each policy, and how much its largest prompt costs to write once.
import { splitByRepository, type TraceKind } from "../../harness/traces.ts";
import { noUsage, promptTokens } from "../../src/core/message/usage.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import type { CallDetail } from "../../src/replay/call-detail.ts";
import type { ReplayReport } from "../../src/replay/report.ts";
import { costOf } from "../../src/replay/tally.ts";

export interface SessionCosts {
  readonly name: string;
  readonly limitUsd: number;
  readonly costUsd: ReadonlyMap<string, number>;
  /** One 5-minute write of the largest prompt. */
  readonly writeUsd: number;
  /** Which half of the recordings it is in. */
  readonly half: number;
}

/** Watches the calls of a replay; `read` gives the sessions of its report. */
export function watchSessions(folder: string): {
  readonly onCall: (call: CallDetail) => void;
  readonly read: (report: ReplayReport) => readonly SessionCosts[];
} {
  const halves = splitByRepository(folder).map(({ files }) => new Set(files.map(nameOf)));
  const halfOf = new Map<string, number>();
  const writes = new Map<string, number>();
  return {
    onCall: ({ sessionId, file, model, startMs, outcomes }) => {
      const usage = outcomes[0]?.usage ?? noUsage;
      const all = { ...noUsage, cacheWriteTokens: { "5m": promptTokens(usage) } };
      const write = Number(costOf(all, resolveModel(model).facts, startMs)) / 1e12;
      writes.set(sessionId, Math.max(writes.get(sessionId) ?? 0, write));
      halfOf.set(
        sessionId,
        halves.findIndex((files) => files.has(nameOf(file))),
      );
    },
    read: ({ groups }) =>
      groups.map(({ name, limit, policies }) => ({
        name,
        limitUsd: limit.costUsd,
        costUsd: new Map(policies.map(({ policy, costUsd }) => [policy, costUsd])),
        writeUsd: writes.get(name) ?? 0,
        half: halfOf.get(name) ?? -1,
      })),
  };
}

function nameOf(file: string): string {
  return file.split(/[/\\]/).at(-1) ?? file;
}

/** The ratio to the limit of a policy in each half: by trace for blocks, by repository for sessions. */
export function halfRatios(
  kind: TraceKind,
  sessions: readonly SessionCosts[],
): Record<string, number> {
  const ratios: Record<string, number> = {};
  for (const half of [0, 1]) {
    const own = sessions.filter((session) => session.half === half);
    const sum = (cost: (session: SessionCosts) => number): number =>
      own.reduce((total, session) => total + cost(session), 0);
    const adaptive = sum(({ costUsd }) => costUsd.get("adaptive") ?? NaN);
    ratios[`${kind} half ${half + 1}: adaptive x limit`] = adaptive / sum((each) => each.limitUsd);
    ratios[`${kind} half ${half + 1}: recordings`] = own.length;
  }
  return ratios;
}
