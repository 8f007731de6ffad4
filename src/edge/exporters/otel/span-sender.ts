// Finished spans on their way to a collector: a bounded queue, one batch at a time, and every span is counted.
import type { ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace";
import { failureOf, type SpanCounts } from "./export-counts.ts";

export interface SpanSender extends SpanProcessor {
  counts(): SpanCounts;
}

export interface SpanSenderOptions {
  readonly queueMax: number;
  /** How long the first span of a batch waits for others. */
  readonly delayMs: number;
  /** For people; called for the first batch that fails after one that did not. */
  readonly onProblem: (problem: string) => void;
}

/** As the SDK's own. */
const batchMax = 512;

/** The SDK's own processor tells nobody what it dropped. */
export function createSpanSender(
  exporter: SpanExporter,
  { queueMax, delayMs, onProblem }: SpanSenderOptions,
): SpanSender {
  let waiting: ReadableSpan[] = [];
  let sending: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isFailing = false;
  let [exportedCount, failedCount, droppedCount] = [0, 0, 0];

  const sendBatch = (): Promise<void> => {
    const batch = waiting.slice(0, batchMax);
    waiting = waiting.slice(batchMax);
    return new Promise((resolve) => {
      exporter.export(batch, (result) => {
        const failure = failureOf(result);
        if (failure === null) exportedCount += batch.length;
        else failedCount += batch.length;
        if (failure !== null && !isFailing) onProblem(`spans were not taken: ${failure}`);
        isFailing = failure !== null;
        resolve();
      });
    });
  };
  const sendAll = async (): Promise<void> => {
    while (waiting.length > 0) await sendBatch();
  };
  const send = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    sending ??= sendAll().finally(() => {
      sending = null;
    });
    return sending;
  };
  return {
    onStart: () => {},
    onEnd: (span) => {
      const isSampled = (span.spanContext().traceFlags & 1) === 1;
      if (!isSampled) return;
      if (waiting.length >= queueMax) {
        droppedCount += 1;
        return;
      }
      waiting.push(span);
      if (waiting.length >= batchMax) void send();
      else timer ??= setTimeout(() => void send(), delayMs).unref();
    },
    forceFlush: async () => {
      await send();
      await exporter.forceFlush?.();
    },
    shutdown: async () => {
      await send();
      await exporter.shutdown();
    },
    counts: () => ({ waitingCount: waiting.length, exportedCount, failedCount, droppedCount }),
  };
}
