// `strata-context/otel`: spans and metrics under OpenTelemetry's names.
export type { ExportCounts, SpanCounts } from "./export-counts.ts";
export type { Compatibility } from "./inference.ts";
export {
  openTelemetry,
  type ExportSettings,
  type ExportState,
  type OpenedTelemetry,
  type OpenTelemetryOptions,
} from "./open-telemetry.ts";
export {
  createTelemetry,
  type Telemetry,
  type TelemetryCounts,
  type TelemetryOptions,
} from "./telemetry.ts";
