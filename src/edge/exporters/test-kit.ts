// For tests: a bus with metrics, and a parser of the Prometheus text format.
import { createEventBus, type EventBus } from "../events/event-bus.ts";
import type { WorkspaceMetrics } from "../files/workspace/workspace-root.ts";
import { createMetrics, type Metrics, type MetricsOptions } from "./metrics.ts";

export interface TestMetrics {
  readonly metrics: Metrics;
  readonly bus: EventBus;
  /** The value of one series; undefined if it does not exist. */
  valueOf(name: string, labels?: Readonly<Record<string, string>>): Promise<number | undefined>;
}

export const sessionId = "session-1";

/** Metrics for the agent `ana` by default, on a strict bus. */
export function openTestMetrics(options: MetricsOptions = {}): TestMetrics {
  const metrics = createMetrics({ agentOf: () => "ana", ...options });
  const bus = createEventBus({ strictness: "strict", onProblem: throwIt, nowUs: () => noonUs });
  bus.subscribe((event) => metrics.observe(event));
  return {
    metrics,
    bus,
    valueOf: async (name, labels) => valueIn(parseExposition(await metrics.render()), name, labels),
  };
}

const noonUs = Date.parse("2026-11-15T12:00:00Z") * 1000;

function throwIt(problem: unknown): never {
  throw new Error("the bus has a problem", { cause: problem });
}

/** The counts of a workspace cache for one root. */
export function keptRoot(path: string, hits = 1): WorkspaceMetrics {
  return { path, hits, misses: 1, invalidations: 0, loads: 1, isWatched: false };
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Enforces the format: each family once, HELP and TYPE before its samples, each series once. */
export function parseExposition(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, { type: string; help: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let help: readonly [string, string] | null = null;
  let current = "";
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const helped = /^# HELP ([a-zA-Z_:][\w:]*) (.+)$/.exec(line);
    const typed = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/.exec(line);
    if (helped !== null) {
      help = [helped[1] ?? "", helped[2] ?? ""];
    } else if (typed !== null) {
      current = typed[1] ?? "";
      if (help?.[0] !== current || families.has(current)) throw new Error(`out of order: ${line}`);
      families.set(current, { type: typed[2] ?? "", help: help[1], samples: [] });
    } else {
      const sample = parseSample(line);
      const key = `${sample.name} ${Object.entries(sample.labels).map(String).toSorted().join("\n")}`;
      if (seen.has(key)) throw new Error(`twice: ${line}`);
      seen.add(key);
      if (sample.name.replace(/_(bucket|sum|count)$/, "") !== current && sample.name !== current) {
        throw new Error(`not of ${current}: ${line}`);
      }
      families.get(current)?.samples.push(sample);
    }
  }
  return families;
}

function parseSample(line: string): Sample {
  const parts = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([+-]?(?:Inf|[\d.]+(?:e[+-]?\d+)?))$/.exec(line);
  if (parts === null) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  let rest = parts[2] ?? "";
  while (rest !== "") {
    const pair = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/.exec(rest);
    if (pair === null) throw new Error(`no label: ${rest}`);
    labels[pair[1] ?? ""] = (pair[2] ?? "").replace(/\\(.)/g, (_, char) =>
      char === "n" ? "\n" : String(char),
    );
    rest = rest.slice(pair[0].length);
  }
  return {
    name: parts[1] ?? "",
    labels,
    value: Number((parts[3] ?? "").replace("Inf", "Infinity")),
  };
}

/** The sample with exactly these labels, in any order. */
export function valueIn(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ""));
  return family?.samples.find(
    (sample) =>
      sample.name === name &&
      Object.keys(sample.labels).length === Object.keys(labels).length &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )?.value;
}
