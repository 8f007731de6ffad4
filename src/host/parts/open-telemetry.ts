// Spans and metrics of a host: to a collector as configured, or to the OpenTelemetry SDK of the program around it.
import type { MeterProvider, TracerProvider } from "@opentelemetry/api";
import { isPlainAddress } from "../../core/config/schema/providers.ts";
import { onlyProtocol, type TelemetryConfig } from "../../core/config/schema/telemetry.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { EventBus } from "../../edge/events/event-bus.ts";
import type { Compatibility } from "../../edge/exporters/otel/inference.ts";
import {
  openTelemetry,
  type ExportSettings,
  type ExportState,
} from "../../edge/exporters/otel/open-telemetry.ts";
import { createTelemetry, type Telemetry } from "../../edge/exporters/otel/telemetry.ts";

/** What a program may say about it; what it leaves out is as configured, or as OpenTelemetry's variables say. */
export interface TelemetrySettings {
  /** The collector, without the path of a signal; http://127.0.0.1:4318 by default. */
  readonly endpoint?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `strata` by default. */
  readonly serviceName?: string;
  readonly resource?: Readonly<Record<string, string>>;
  /** Names of other conventions beside the current ones. */
  readonly compat?: readonly Compatibility[];
  /** Those of the program's own SDK: then nothing is sent by Strata, and no further package is needed. */
  readonly tracerProvider?: TracerProvider;
  readonly meterProvider?: MeterProvider;
}

export interface HostTelemetry extends Pick<Telemetry, "observe" | "observeCall"> {
  /** Null where the program's own SDK sends. */
  state(): ExportState | null;
  close(): Promise<void>;
}

export interface TelemetryAsked {
  readonly config: TelemetryConfig;
  /** What the program says: `true` to send even if nothing is configured, `false` for nothing at all. */
  readonly asked?: boolean | TelemetrySettings | undefined;
  readonly agentOf?: (sessionId: string) => string | null | undefined;
  readonly onNotice: (notice: string) => void;
}

/** Null if nothing is to be sent. Throws a `StrataError` if what was asked for cannot be done. */
export async function openHostTelemetry(options: TelemetryAsked): Promise<HostTelemetry | null> {
  const { config, asked, onNotice, agentOf = () => null } = options;
  if (asked === false || !config.isEnabled) return null;
  const own = typeof asked === "object" ? asked : {};
  const { tracerProvider, meterProvider, compat = config.compat } = own;
  if (tracerProvider !== undefined || meterProvider !== undefined) {
    const given = {
      ...(tracerProvider === undefined ? {} : { tracerProvider }),
      ...(meterProvider === undefined ? {} : { meterProvider }),
    };
    const telemetry = createTelemetry({ ...given, compat, agentOf });
    const close = (): Promise<void> => Promise.resolve(telemetry.close());
    return { ...telemetry, state: () => null, close };
  }
  try {
    const settings = toExportSettings(config, asked === undefined ? null : own);
    if (settings === null) return null;
    const onProblem = (problem: string): void => onNotice(`OpenTelemetry: ${problem}`);
    const opened = await openTelemetry(settings, { agentOf, onProblem });
    return { ...opened, close: () => opened.shutdown() };
  } catch (error) {
    // The variable may be meant for other programs.
    if (!(error instanceof StrataError) || !config.isShared || asked !== undefined) throw error;
    onNotice(`no OpenTelemetry spans and metrics: ${error.message}\n  ${error.hint}`);
    return null;
  }
}

/** Ends with the host; calls of the bus are observed until then. */
export async function followWithTelemetry(
  events: EventBus,
  options: TelemetryAsked,
): Promise<HostTelemetry | null> {
  const telemetry = await openHostTelemetry(options);
  if (telemetry !== null) events.subscribe((event) => telemetry.observe(event));
  return telemetry;
}

/** `own`: null if the program asks for nothing by itself. Null if nothing is to be sent. */
function toExportSettings(
  config: TelemetryConfig,
  own: TelemetrySettings | null,
): ExportSettings | null {
  const endpoint = own?.endpoint ?? config.endpoint ?? (own === null ? null : usualEndpoint);
  const traces = config.tracesEndpoint ?? addPath(endpoint, "v1/traces");
  const metrics = config.metricsEndpoint ?? addPath(endpoint, "v1/metrics");
  const tracesUrl = config.hasTraces ? traces : null;
  const metricsUrl = config.hasMetrics ? metrics : null;
  if (tracesUrl === null && metricsUrl === null) return null;
  if (own?.endpoint === undefined) requireProtocol(config.protocol);
  for (const url of [tracesUrl, metricsUrl]) requireAddress(url);
  const { serviceName, spanDelayMs, metricsEveryMs, queueMax } = config;
  return {
    tracesUrl,
    metricsUrl,
    headers: new Map([...config.headers, ...Object.entries(own?.headers ?? {})]),
    serviceName: own?.serviceName ?? serviceName,
    resource: new Map([...config.resource, ...Object.entries(own?.resource ?? {})]),
    compat: own?.compat ?? config.compat,
    spanDelayMs,
    metricsEveryMs,
    queueMax,
  };
}

/** OpenTelemetry's own default. */
const usualEndpoint = "http://127.0.0.1:4318";

function addPath(endpoint: string | null, path: string): string | null {
  return endpoint === null ? null : `${endpoint.replace(/\/+$/, "")}/${path}`;
}

function requireProtocol(protocol: string): void {
  if (protocol === onlyProtocol) return;
  throw new StrataError(
    "config-invalid",
    `a collector is to be spoken to by ${protocol}, and Strata speaks ${onlyProtocol}`,
    `give telemetry.endpoint in strata.yaml, where the collector takes OTLP over HTTP (its port is usually 4318), with telemetry.protocol: ${onlyProtocol}`,
  );
}

function requireAddress(url: string | null): void {
  if (url === null || isPlainAddress(url)) return;
  throw new StrataError(
    "config-invalid",
    "the collector's address is none of http or https",
    "write it as http://127.0.0.1:4318",
  );
}
