// A collector of the test's own: takes OTLP over HTTP and decodes it by OpenTelemetry's published protobuf schema.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { onTestFinished } from "vitest";

export interface ReceivedSpan {
  readonly name: string;
  /** As in the schema: 1 internal, 3 client. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** 0 unset, 2 error. */
  readonly status: number;
}

export interface ReceivedPoint {
  readonly attributes: Attributes;
  /** Of a sum. */
  readonly value: number;
  /** Of a histogram. */
  readonly count: number;
  readonly sum: number;
  readonly bounds: readonly number[];
}

export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly kind: "sum" | "histogram";
  readonly isMonotonic: boolean;
  /** 2: since the start. */
  readonly temporality: number;
  readonly points: readonly ReceivedPoint[];
}

export type Attributes = Readonly<Record<string, unknown>>;

export interface Collector {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Of the last report. */
  readonly metrics: () => readonly ReceivedMetric[];
  readonly resources: readonly Attributes[];
  /** Headers of all requests. */
  readonly headers: readonly IncomingMessage["headers"][];
  readonly paths: readonly string[];
}

export interface CollectorOptions {
  /** 200 by default. */
  readonly status?: () => number;
}

export async function openCollector({
  status = () => 200,
}: CollectorOptions = {}): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const resources: Attributes[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const paths: string[] = [];
  let metrics: readonly ReceivedMetric[] = [];
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    headers.push(incoming.headers);
    paths.push(incoming.url ?? "");
    const code = status();
    if (code === 200 && incoming.url === "/v1/traces") {
      for (const each of decodeTraces(Buffer.concat(pieces)).resourceSpans ?? []) {
        resources.push(toAttributes(each.resource?.attributes));
        spans.push(...(each.scopeSpans ?? []).flatMap((scope) => (scope.spans ?? []).map(toSpan)));
      }
    }
    if (code === 200 && incoming.url === "/v1/metrics") {
      metrics = (decodeMetrics(Buffer.concat(pieces)).resourceMetrics ?? []).flatMap((each) =>
        (each.scopeMetrics ?? []).flatMap((scope) => (scope.metrics ?? []).map(toMetric)),
      );
    }
    outgoing.writeHead(code, { "content-type": "application/x-protobuf" }).end();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const url = `http://127.0.0.1:${port}`;
  return { url, spans, metrics: () => metrics, resources, headers, paths };
}

/** What the schema's decoder gives; absent members have their defaults. */
interface Value {
  readonly stringValue?: string | null;
  readonly boolValue?: boolean | null;
  readonly intValue?: Long | null;
  readonly doubleValue?: number | null;
  readonly arrayValue?: { readonly values?: readonly Value[] | null } | null;
}

type Long = number | { toNumber(): number };

type Pairs = readonly { readonly key?: string | null; readonly value?: Value | null }[];

interface RawSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly parentSpanId: Uint8Array | null;
  readonly traceState: string | null;
  readonly startTimeUnixNano: Long;
  readonly endTimeUnixNano: Long;
  readonly attributes: Pairs;
  readonly status?: { readonly code?: number | null } | null;
}

interface RawPoint {
  readonly attributes: Pairs;
  readonly asInt?: Long | null;
  readonly asDouble?: number | null;
  readonly count?: Long | null;
  readonly sum?: number | null;
  readonly explicitBounds?: readonly number[] | null;
}

interface RawPoints {
  readonly dataPoints: readonly RawPoint[];
  readonly aggregationTemporality: number;
  readonly isMonotonic?: boolean;
}

interface RawMetric {
  readonly name: string;
  readonly unit: string;
  readonly sum?: RawPoints | null;
  readonly histogram?: RawPoints | null;
}

interface Traces {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: Pairs | null } | null;
    readonly scopeSpans?: readonly { readonly spans?: readonly RawSpan[] | null }[] | null;
  }[];
}

interface Metrics {
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics?: readonly { readonly metrics?: readonly RawMetric[] | null }[] | null;
  }[];
}

interface Decoder<Message> {
  decode(bytes: Uint8Array): Message;
}

/** The schema as `@opentelemetry/otlp-transformer` published it, compiled from the `.proto` files. */
const { opentelemetry } = createRequire(import.meta.url)(
  "otlp-schema/build/src/generated/root.js",
) as {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: {
        readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: Decoder<Traces> } };
        readonly metrics: {
          readonly v1: { readonly ExportMetricsServiceRequest: Decoder<Metrics> };
        };
      };
    };
  };
};

const { trace, metrics: ofMetrics } = opentelemetry.proto.collector;

function decodeTraces(bytes: Uint8Array): Traces {
  return trace.v1.ExportTraceServiceRequest.decode(bytes);
}

function decodeMetrics(bytes: Uint8Array): Metrics {
  return ofMetrics.v1.ExportMetricsServiceRequest.decode(bytes);
}

function toSpan(span: RawSpan): ReceivedSpan {
  const { name, kind, traceState, status } = span;
  return {
    name,
    kind,
    traceId: Buffer.from(span.traceId).toString("hex"),
    spanId: Buffer.from(span.spanId).toString("hex"),
    parentSpanId: Buffer.from(span.parentSpanId ?? []).toString("hex"),
    traceState: traceState ?? "",
    startMs: toMs(span.startTimeUnixNano),
    endMs: toMs(span.endTimeUnixNano),
    attributes: toAttributes(span.attributes),
    status: status?.code ?? 0,
  };
}

function toMetric({ name, unit, sum, histogram }: RawMetric): ReceivedMetric {
  const points = sum ?? histogram;
  return {
    name,
    unit,
    kind: sum == null ? "histogram" : "sum",
    isMonotonic: sum?.isMonotonic ?? false,
    temporality: points?.aggregationTemporality ?? 0,
    points: (points?.dataPoints ?? []).map((point) => ({
      attributes: toAttributes(point.attributes),
      value: point.asInt == null ? (point.asDouble ?? 0) : toNumber(point.asInt),
      count: toNumber(point.count ?? 0),
      sum: point.sum ?? 0,
      bounds: point.explicitBounds ?? [],
    })),
  };
}

function toAttributes(pairs: Pairs | null | undefined): Attributes {
  return Object.fromEntries((pairs ?? []).map(({ key, value }) => [key ?? "", toValue(value)]));
}

function toValue(value: Value | null | undefined): unknown {
  if (value?.arrayValue != null) return (value.arrayValue.values ?? []).map(toValue);
  if (value?.intValue != null) return toNumber(value.intValue);
  return value?.stringValue ?? value?.boolValue ?? value?.doubleValue ?? null;
}

function toNumber(long: Long): number {
  return typeof long === "number" ? long : long.toNumber();
}

/** A number holds nanoseconds since 1970 to about 256 of them. */
function toMs(nanoseconds: Long): number {
  return Math.round(toNumber(nanoseconds) / 1e3) / 1e3;
}
