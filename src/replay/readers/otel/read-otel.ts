// Reads OpenTelemetry exports: a span for each call, with its token counts and as a rule without its prompt.
import { countIn, type Fields } from "../../../core/message/fields.ts";
import type { Recorded } from "../../recording.ts";
import { skip, type LineReader, type Source } from "../line-reader.ts";
import { readCall } from "./otel-call.ts";
import { readEvent } from "./otel-events.ts";
import { hasSpans, logRecordsIn, spansIn } from "./otel-spans.ts";
import { toSessions, type TracedCall } from "../traced-calls.ts";

/** A collector writes spans, logs and metrics into files of the same form. */
export function isOtel(line: Fields): boolean {
  return (
    hasSpans(line) || ["resourceLogs", "resourceMetrics"].some((name) => Array.isArray(line[name]))
  );
}

/** Spans are exported when they end, children before their parents, so calls are put in order at the end. */
export function createOtelReader(source: Source): LineReader {
  const { file, drafting } = source;
  const calls: TracedCall[] = [];
  const keep = (call: TracedCall | string | null, line: number): Recorded[] => {
    if (typeof call === "string") return [skip(file, line, call)];
    if (call !== null) calls.push(call);
    return [];
  };
  return {
    read(line, number) {
      if (Array.isArray(line["resourceMetrics"])) {
        return [skip(file, number, "it holds metrics, which are sums over calls")];
      }
      const logged = logRecordsIn(line).flatMap((record, index) =>
        keep(readEvent(record, number, `${file}:${number}/${index}`), number),
      );
      const spans = spansIn(line).flatMap((span): Recorded[] => {
        const left = keep(readCall(span, number, drafting), number);
        if (left.length > 0) return left;
        if (compactionTokens(span.attributes) === 0) return [];
        return [skip(file, number, "the tokens of a summary inside the call are not counted")];
      });
      return [...logged, ...spans];
    },
    end: () => toSessions(calls, "otel", source),
  };
}

/** Tokens of a summary made inside the call, which its own counts do not include. */
function compactionTokens(attributes: Fields): number {
  return (
    (countIn(attributes, "anthropic.usage.compaction.input_tokens") ?? 0) +
    (countIn(attributes, "anthropic.usage.compaction.output_tokens") ?? 0)
  );
}
