// Spans and metrics of calls, turns and tools, made beside the work: events and calls wait in a bounded queue.
import {
  context,
  metrics,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type MeterProvider,
  type Tracer,
  type TracerProvider,
} from "@opentelemetry/api";
import packageJson from "../../../../package.json" with { type: "json" };
import type { StrataEvent } from "../../../core/events/event.ts";
import type { GatewayCall } from "../../../core/ledger/gateway-call.ts";
import { requireLeasts } from "../../../core/tools/check-limits.ts";
import { followTurns } from "./follow-turns.ts";
import { contextOf, fromGatewayCall } from "./from-gateway-call.ts";
import { toAttributes, type Compatibility, type Inference } from "./inference.ts";
import { createMeters } from "./meters.ts";
import { toTime } from "./open-spans.ts";
import { createWorkQueue, type QueueCounts } from "./work-queue.ts";

export interface Telemetry {
  /** Handler for `bus.subscribe`. It only puts the event into the queue. */
  observe(event: StrataEvent): void;
  /** The same for a call that passed through a gateway: its option `onCall`. */
  observeCall(call: GatewayCall): void;
  counts(): TelemetryCounts;
  /** Makes spans and metrics of everything in the queue. Sending them is up to their providers. */
  drain(): void;
  /** Drains, and ends what is open. */
  close(): void;
}

export interface TelemetryCounts extends QueueCounts {
  /** Events and calls of which no span could be made. */
  readonly unreadCount: number;
}

export interface TelemetryOptions {
  /** By default those of the process: without an OpenTelemetry SDK they record nothing. */
  readonly tracerProvider?: TracerProvider;
  readonly meterProvider?: MeterProvider;
  /** Names of other conventions beside the current ones; none by default. */
  readonly compat?: readonly Compatibility[];
  /** The agent of a session whose beginning was not seen. */
  readonly agentOf?: (sessionId: string) => string | null | undefined;
  /** How many events and calls may wait; 10,000 by default. */
  readonly queueMax?: number;
}

type Queued =
  | { readonly event: StrataEvent; readonly around: Context }
  | { readonly call: GatewayCall };

export function createTelemetry(options: TelemetryOptions = {}): Telemetry {
  const { compat = [], queueMax = 10_000, agentOf = () => null } = options;
  requireLeasts("telemetry", { queueMax }, { queueMax: 1 });
  const { version } = packageJson;
  const tracers = options.tracerProvider ?? trace.getTracerProvider();
  const tracer = tracers.getTracer("strata-context", version);
  const meters = createMeters(options.meterProvider ?? metrics.getMeterProvider(), version);
  const send = (inference: Inference, parent: Context): void => {
    sendInference(tracer, inference, { parent, compat });
    meters.countInference(inference);
  };
  const turns = followTurns({ tracer, meters, send, agentOf });
  let unreadCount = 0;
  const queue = createWorkQueue<Queued>({
    itemsMax: queueMax,
    handle: (each) => {
      try {
        if ("event" in each) turns.observe(each.event, each.around);
        else send(fromGatewayCall(each.call), contextOf(each.call.wire?.trace));
      } catch {
        // An event that breaks the catalogue, which a lenient bus delivers.
        unreadCount += 1;
      }
    },
    onEmpty: () => turns.settle(),
  });
  return {
    observe: (event) => {
      const isRoot = event.type === "turn.started" || event.type === "turn.resumed";
      queue.add({ event, around: isRoot ? context.active() : ROOT_CONTEXT });
    },
    observeCall: (call) => queue.add({ call }),
    counts: () => ({ ...queue.counts(), unreadCount }),
    drain: () => queue.drain(),
    close: () => {
      queue.close();
      turns.close();
    },
  };
}

function sendInference(
  tracer: Tracer,
  inference: Inference,
  { parent, compat }: { parent: Context; compat: readonly Compatibility[] },
): void {
  const { operation, requestModel, startMs, endMs, errorType } = inference;
  const attributes = toAttributes(inference, compat);
  const started = { kind: SpanKind.CLIENT, startTime: toTime(startMs), attributes };
  const span = tracer.startSpan(`${operation} ${requestModel}`, started, parent);
  if (errorType !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: errorType });
  span.end(toTime(endMs));
}
