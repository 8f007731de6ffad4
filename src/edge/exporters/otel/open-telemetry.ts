// Telemetry that goes to a collector, by OpenTelemetry's own packages, which are loaded only here.
import packageJson from "../../../../package.json" with { type: "json" };
import { countExports, type CountedExporter } from "./count-exports.ts";
import type { ExportCounts, SpanCounts } from "./export-counts.ts";
import type { Compatibility } from "./inference.ts";
import { loadSdk, type Sdk } from "./load-sdk.ts";
import { createSpanSender, type SpanSender } from "./span-sender.ts";
import { createTelemetry, type Telemetry, type TelemetryCounts } from "./telemetry.ts";

/** Where spans and metrics go, and under which name. */
export interface ExportSettings {
  /** For spans, such as http://127.0.0.1:4318/v1/traces; null for no spans. */
  readonly tracesUrl: string | null;
  /** For metrics; null for no metrics. */
  readonly metricsUrl: string | null;
  /** Sent with every request. They may hold secrets. */
  readonly headers: ReadonlyMap<string, string>;
  readonly serviceName: string;
  /** Further attributes of the process. */
  readonly resource: ReadonlyMap<string, string>;
  readonly compat: readonly Compatibility[];
  readonly spanDelayMs: number;
  readonly metricsEveryMs: number;
  /** How many events, calls and spans may wait. */
  readonly queueMax: number;
}

export interface OpenTelemetryOptions {
  readonly agentOf?: (sessionId: string) => string | null | undefined;
  /** For people. It holds no headers. */
  readonly onProblem?: (problem: string) => void;
}

export interface OpenedTelemetry extends Telemetry {
  state(): ExportState;
  /** Sends what waits. */
  flush(): Promise<void>;
  /** Sends what waits, as long as it may, and nothing later. */
  shutdown(): Promise<void>;
}

export interface ExportState extends TelemetryCounts {
  /** Null if no spans are sent. */
  readonly spans: SpanCounts | null;
  /** Null if no metrics are sent. */
  readonly metrics: ExportCounts | null;
}

/** A collector that is gone keeps no program from ending. */
const shutdownMsMax = 5000;

/** Throws a `StrataError` if the packages are not installed. */
export async function openTelemetry(
  settings: ExportSettings,
  { agentOf = () => null, onProblem = () => {} }: OpenTelemetryOptions = {},
): Promise<OpenedTelemetry> {
  const sdk = await loadSdk();
  const { compat, queueMax } = settings;
  const { sender, counted, ...providers } = openProviders(sdk, settings, onProblem);
  const { tracerProvider, meterProvider } = providers;
  const telemetry = createTelemetry({ ...providers, compat, queueMax, agentOf });
  return {
    ...telemetry,
    state: () => ({
      ...telemetry.counts(),
      spans: sender?.counts() ?? null,
      metrics: counted?.counts() ?? null,
    }),
    flush: async () => {
      telemetry.drain();
      await Promise.allSettled([tracerProvider.forceFlush(), meterProvider.forceFlush()]);
    },
    shutdown: async () => {
      telemetry.close();
      const last = Promise.allSettled([tracerProvider.shutdown(), meterProvider.shutdown()]);
      await withinTime(last, shutdownMsMax, onProblem);
    },
  };
}

interface Providers {
  readonly sender: SpanSender | null;
  readonly counted: CountedExporter | null;
  readonly tracerProvider: InstanceType<Sdk["TracerProvider"]>;
  readonly meterProvider: InstanceType<Sdk["MeterProvider"]>;
}

function openProviders(
  sdk: Sdk,
  settings: ExportSettings,
  onProblem: (problem: string) => void,
): Providers {
  const { tracesUrl, metricsUrl, queueMax, spanDelayMs: delayMs, metricsEveryMs } = settings;
  const headers = Object.fromEntries(settings.headers);
  const resource = sdk.defaultResource().merge(
    sdk.resourceFromAttributes({
      "service.version": packageJson.version,
      ...Object.fromEntries(settings.resource),
      "service.name": settings.serviceName,
    }),
  );
  const sender =
    tracesUrl === null
      ? null
      : createSpanSender(new sdk.OTLPTraceExporter({ url: tracesUrl, headers }), {
          queueMax,
          delayMs,
          onProblem,
        });
  const counted =
    metricsUrl === null
      ? null
      : countExports(new sdk.OTLPMetricExporter({ url: metricsUrl, headers }), onProblem);
  const toReader = ({
    exporter,
  }: CountedExporter): InstanceType<Sdk["PeriodicExportingMetricReader"]> =>
    new sdk.PeriodicExportingMetricReader({
      exporter,
      exportIntervalMillis: metricsEveryMs,
      exportTimeoutMillis: Math.min(metricsEveryMs, exportMsMax),
    });
  return {
    sender,
    counted,
    tracerProvider: new sdk.TracerProvider({
      resource,
      spanProcessors: sender === null ? [] : [sender],
    }),
    meterProvider: new sdk.MeterProvider({
      resource,
      readers: counted === null ? [] : [toReader(counted)],
    }),
  };
}

/** As the SDK's own. */
const exportMsMax = 30_000;

async function withinTime(
  work: Promise<unknown>,
  msMax: number,
  onProblem: (problem: string) => void,
): Promise<void> {
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => late.resolve("late"), msMax);
  const first = await Promise.race([work, late.promise]);
  clearTimeout(timer);
  if (first === "late") onProblem("the collector did not take the last spans and metrics in time");
}
