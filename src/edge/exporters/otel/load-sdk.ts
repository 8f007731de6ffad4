// OpenTelemetry's own packages, which are installed only where spans and metrics are sent.
import type * as metricExporter from "@opentelemetry/exporter-metrics-otlp-proto";
import type * as traceExporter from "@opentelemetry/exporter-trace-otlp-proto";
import type * as resources from "@opentelemetry/resources";
import type * as metrics from "@opentelemetry/sdk-metrics";
import type * as traces from "@opentelemetry/sdk-trace";
import { loadOptional } from "../../providers/load-optional.ts";

export interface Sdk
  extends
    Pick<typeof traces, "TracerProvider">,
    Pick<typeof metrics, "MeterProvider" | "PeriodicExportingMetricReader">,
    Pick<typeof resources, "defaultResource" | "resourceFromAttributes">,
    Pick<typeof traceExporter, "OTLPTraceExporter">,
    Pick<typeof metricExporter, "OTLPMetricExporter"> {}

/** Throws a `StrataError` if one of them is missing. */
export function loadSdk(): Promise<Sdk> {
  return loadOptional(
    async () => {
      const [ofTraces, ofMetrics, ofResources, toTraces, toMetrics] = await Promise.all([
        import("@opentelemetry/sdk-trace"),
        import("@opentelemetry/sdk-metrics"),
        import("@opentelemetry/resources"),
        import("@opentelemetry/exporter-trace-otlp-proto"),
        import("@opentelemetry/exporter-metrics-otlp-proto"),
      ]);
      const { TracerProvider } = ofTraces;
      const { MeterProvider, PeriodicExportingMetricReader } = ofMetrics;
      const { defaultResource, resourceFromAttributes } = ofResources;
      const { OTLPTraceExporter } = toTraces;
      const { OTLPMetricExporter } = toMetrics;
      return {
        TracerProvider,
        MeterProvider,
        PeriodicExportingMetricReader,
        defaultResource,
        resourceFromAttributes,
        OTLPTraceExporter,
        OTLPMetricExporter,
      };
    },
    {
      names: [
        "@opentelemetry/sdk-trace",
        "@opentelemetry/sdk-metrics",
        "@opentelemetry/resources",
        "@opentelemetry/exporter-trace-otlp-proto",
        "@opentelemetry/exporter-metrics-otlp-proto",
      ],
      purpose: "spans and metrics are sent to a collector by OpenTelemetry's own packages",
      otherwise: "take the collector out of the configuration",
    },
  );
}
