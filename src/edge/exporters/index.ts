// `strata-context/metrics`: Prometheus metrics for operators.
export {
  createMetrics,
  type Metrics,
  type MetricsOptions,
  type MetricsProblem,
} from "./metrics.ts";
export { serveMetrics } from "./serve-metrics.ts";
export type { CountedCache } from "./workspace-metrics.ts";
