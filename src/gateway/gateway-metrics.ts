// Prometheus metrics of a gateway: the calls that it saw, and its own state.
import { Counter, Gauge } from "prom-client";
import { createMetrics, type Metrics } from "../edge/exporters/metrics.ts";
import { eventsOf } from "../edge/stores/ledger/gateway/gateway-events.ts";
import { createEventIds } from "../core/events/event-ids.ts";
import { createRandomBytes } from "../edge/events/schedule.ts";
import type { ForwarderState } from "./open-forwarder.ts";
import type { ObservedCall } from "./observed-call.ts";
import type { RecorderStats } from "./record/open-recorder.ts";

export interface GatewayMetrics extends Pick<Metrics, "render" | "contentType" | "registry"> {
  observe(call: ObservedCall): void;
  /** What the gateway is asked at each scrape. */
  follow(gateway: FollowedGateway): void;
}

export interface FollowedGateway {
  state(): Pick<ForwarderState, "exchanges" | "observer">;
  stats(): RecorderStats;
}

/** Events name conversations, and metrics programs. Beyond it the oldest count as unknown. */
const conversationsMax = 10_000;

export function createGatewayMetrics(): GatewayMetrics {
  const programs = new Map<string, string>();
  const metrics = createMetrics({ agentOf: (id) => programs.get(id) });
  const ids = createEventIds();
  const randomBytes = createRandomBytes();
  const newMessageId = (): string => ids.next(Date.now(), randomBytes());
  return {
    contentType: metrics.contentType,
    render: () => metrics.render(),
    registry: metrics.registry,
    observe: (call) => {
      const { id, client } = call.conversation;
      programs.delete(id);
      programs.set(id, client);
      const [oldest] = programs.keys();
      if (programs.size > conversationsMax && oldest !== undefined) programs.delete(oldest);
      for (const event of eventsOf({ newMessageId }, call)) metrics.observe(event);
    },
    follow: (gateway) => followState(metrics, gateway),
  };
}

/** Counts that the gateway keeps itself are read when they are asked for. */
function followState({ registry }: Pick<Metrics, "registry">, gateway: FollowedGateway): void {
  const registers = [registry];
  const counter = (name: string, help: string, read: () => number): void => {
    const made: Counter = new Counter({
      name,
      help,
      registers,
      collect: () => {
        made.reset();
        made.inc(read());
      },
    });
  };
  const exchanges: Counter<"outcome"> = new Counter({
    name: "strata_gateway_exchanges_total",
    help: "Exchanges that ended, by how: complete, clientLeft, cut, noAnswer or refused.",
    labelNames: ["outcome"],
    registers,
    collect: () => {
      exchanges.reset();
      const { open: _open, ...ended } = gateway.state().exchanges;
      for (const [outcome, count] of Object.entries(ended)) exchanges.inc({ outcome }, count);
    },
  });
  const open: Gauge = new Gauge({
    name: "strata_gateway_exchanges_open",
    help: "Exchanges that are under way.",
    registers,
    collect: () => open.set(gateway.state().exchanges.open),
  });
  const waiting: Gauge = new Gauge({
    name: "strata_gateway_calls_waiting",
    help: "Calls that are not in the ledger yet.",
    registers,
    collect: () => waiting.set(gateway.stats().waitingCount),
  });
  counter(
    "strata_gateway_calls_lost_total",
    "Calls that could not be recorded.",
    () => gateway.stats().lostCount,
  );
  counter(
    "strata_gateway_observer_faults_total",
    "Mistakes of our own while observing; traffic went on.",
    () => gateway.state().observer.faults,
  );
}
