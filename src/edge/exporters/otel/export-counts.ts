// What became of what was sent, in types that need no package of OpenTelemetry's SDK.

export interface ExportCounts {
  readonly exportedCount: number;
  readonly failedCount: number;
}

export interface SpanCounts {
  readonly waitingCount: number;
  readonly exportedCount: number;
  /** In batches that the collector did not take. */
  readonly failedCount: number;
  /** Spans that ended while the queue was full. */
  readonly droppedCount: number;
}

/** Null for a success, whose code is 0. */
export function failureOf({ code, error }: { code: number; error?: Error }): string | null {
  return code === 0 ? null : (error?.message ?? "no reason given");
}
