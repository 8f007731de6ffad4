// How OpenTelemetry's exports go, as Prometheus metrics and for a health check.
import { Counter, Gauge, type Registry } from "prom-client";
import type { ExportState } from "./open-telemetry.ts";

/** Null where another SDK sends, which has counts of its own. */
export interface WatchedTelemetry {
  state(): ExportState | null;
}

/** Read at each scrape. */
export function countTelemetry(registry: Registry, telemetry: WatchedTelemetry): void {
  const state = (): ExportState | null => telemetry.state();
  if (state() === null) return;
  const registers = [registry];
  const spans: Counter<"outcome"> = new Counter({
    name: "strata_telemetry_spans_total",
    help: "OpenTelemetry spans by what became of them: exported, failed or dropped.",
    labelNames: ["outcome"],
    registers,
    collect: () => {
      spans.reset();
      const { exportedCount = 0, failedCount = 0, droppedCount = 0 } = state()?.spans ?? {};
      spans.inc({ outcome: "exported" }, exportedCount);
      spans.inc({ outcome: "failed" }, failedCount);
      spans.inc({ outcome: "dropped" }, droppedCount);
    },
  });
  const reports: Counter<"outcome"> = new Counter({
    name: "strata_telemetry_metric_exports_total",
    help: "Reports of OpenTelemetry metrics by what became of them: exported or failed.",
    labelNames: ["outcome"],
    registers,
    collect: () => {
      reports.reset();
      const { exportedCount = 0, failedCount = 0 } = state()?.metrics ?? {};
      reports.inc({ outcome: "exported" }, exportedCount);
      reports.inc({ outcome: "failed" }, failedCount);
    },
  });
  const dropped: Counter<"cause"> = new Counter({
    name: "strata_telemetry_dropped_total",
    help: "Events and calls of which no span was made: the queue was full, or they could not be read.",
    labelNames: ["cause"],
    registers,
    collect: () => {
      dropped.reset();
      const { droppedCount = 0, unreadCount = 0 } = state() ?? {};
      dropped.inc({ cause: "queue_full" }, droppedCount);
      dropped.inc({ cause: "unread" }, unreadCount);
    },
  });
  const waiting: Gauge = new Gauge({
    name: "strata_telemetry_waiting",
    help: "Events, calls and spans that wait to be sent.",
    registers,
    collect: () => waiting.set((state()?.waitingCount ?? 0) + (state()?.spans?.waitingCount ?? 0)),
  });
}
