// A metric exporter that counts how often a collector took what it sent.
import type { PushMetricExporter } from "@opentelemetry/sdk-metrics";
import { failureOf, type ExportCounts } from "./export-counts.ts";

export interface CountedExporter {
  readonly exporter: PushMetricExporter;
  counts(): ExportCounts;
}

/** `onProblem` is called for the first export that fails after one that did not. */
export function countExports(
  exporter: PushMetricExporter,
  onProblem: (problem: string) => void,
): CountedExporter {
  let [exportedCount, failedCount] = [0, 0];
  let isFailing = false;
  return {
    exporter: {
      export: (metrics, done) =>
        exporter.export(metrics, (result) => {
          const failure = failureOf(result);
          if (failure === null) exportedCount += 1;
          else failedCount += 1;
          if (failure !== null && !isFailing) onProblem(`metrics were not taken: ${failure}`);
          isFailing = failure !== null;
          done(result);
        }),
      forceFlush: () => exporter.forceFlush(),
      shutdown: () => exporter.shutdown(),
      // Totals since the start, as the conventions and Prometheus want them.
      selectAggregationTemporality: () => cumulative,
    },
    counts: () => ({ exportedCount, failedCount }),
  };
}

/** `AggregationTemporality.CUMULATIVE` of the SDK, which is loaded only where it is used. */
const cumulative = 1;
