// The metrics by name, in a registry of their own.
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import {
  listMetrics,
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelsOf,
} from "./metric-specs.ts";

export interface Instruments {
  readonly registry: Registry;
  /** Adds nothing and returns false if the value is negative or not finite. */
  add<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, value?: number): boolean;
  set<Name extends GaugeName>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /** Moves a gauge up or down. */
  shift<Name extends GaugeName>(name: Name, labels: LabelsOf<Name>, by: number): void;
  note<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, value: number): void;
}

/** `readWorkspaces` is called before each read of a workspace metric. */
export function createInstruments(readWorkspaces: () => void): Instruments {
  // Never the global registry: two engines in one process must not share counts.
  const registry = new Registry();
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  const histograms = new Map<string, Histogram>();
  for (const { name, type, labels, help, buckets } of listMetrics()) {
    const collect = name.startsWith("workspace_cache_") ? { collect: readWorkspaces } : {};
    const common = { name, help, labelNames: labels, registers: [registry], ...collect };
    if (type === "counter") counters.set(name, new Counter(common));
    else if (type === "gauge") gauges.set(name, new Gauge(common));
    else histograms.set(name, new Histogram({ ...common, buckets: [...buckets] }));
  }
  return {
    registry,
    add: (name, labels, value = 1) => {
      if (!Number.isFinite(value) || value < 0) return false;
      counters.get(name)?.inc(labels, value);
      return true;
    },
    set: (name, labels, value) => gauges.get(name)?.set(labels, value),
    shift: (name, labels, by) => gauges.get(name)?.inc(labels, by),
    note: (name, labels, value) => histograms.get(name)?.observe(labels, value),
  };
}
