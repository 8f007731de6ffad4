// Spans that began and have not ended, and how they end.
import {
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
} from "@opentelemetry/api";
import { createPending } from "../pending.ts";
import { general, strata } from "./gen-ai-names.ts";

export interface OpenSpan {
  readonly span: Span;
  /** With the span as the parent of others. */
  readonly context: Context;
  readonly startMs: number;
  /** For metrics. */
  readonly labels: Attributes;
}

export interface OpenSpans {
  begin(key: string, span: OpenSpan): void;
  find(key: string): OpenSpan | undefined;
  /** Undefined if it was not open. */
  take(key: string): OpenSpan | undefined;
  /** Ends all that are left, as unfinished. */
  endAll(): void;
}

/** Beyond `max` the oldest ends as unfinished. */
export function createOpenSpans(max: number): OpenSpans {
  const open = createPending(max, giveUp);
  return {
    begin: (key, span) => open.begin(key, span),
    find: (key) => open.find(key),
    take: (key) => open.end(key),
    endAll: () => {
      for (const each of open.endAll()) giveUp(each);
    },
  };
}

function giveUp({ span }: OpenSpan): void {
  span.setAttribute(strata.isUnfinished, true);
  span.end();
}

export function toOpenSpan(
  span: Span,
  { parent, startMs, labels }: { parent: Context; startMs: number; labels: Attributes },
): OpenSpan {
  return { span, context: trace.setSpan(parent, span), startMs, labels };
}

/** `errorType`: null for a good end. */
export function endSpan(span: Span, endMs: number, errorType: string | null): void {
  if (errorType !== null) {
    span.setAttribute(general.errorType, errorType);
    span.setStatus({ code: SpanStatusCode.ERROR, message: errorType });
  }
  span.end(toTime(endMs));
}

/** The API takes a small number for a time since the process started. */
export function toTime(ms: number): [seconds: number, nanoseconds: number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
