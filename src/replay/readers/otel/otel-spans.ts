// OTLP in JSON: the spans and log records of an export, with plain attributes.
import {
  fieldsIn,
  fieldsOf,
  isObject,
  listIn,
  textIn,
  type Fields,
} from "../../../core/message/fields.ts";

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly hasFailed: boolean;
  /** Those of the resource, of the span, and of its events that carry content, the last first. */
  readonly attributes: Fields;
}

/** Whether there is a list of spans that is not empty. */
export function hasSpans(line: Fields): boolean {
  return rootsOf(line).length > 0;
}

export function spansIn(line: Fields): Span[] {
  return rootsOf(line).flatMap((root) => {
    const shared = attributesOf(fieldsIn(root, "resource")["attributes"]);
    return scopesOf(root).flatMap((scope) =>
      listIn(scope, "spans").map((span) => toSpan(fieldsOf(span), shared)),
    );
  });
}

export interface LogRecord {
  /** Null if it is no text. */
  readonly body: string | null;
  readonly timeMs: number | null;
  readonly attributes: Fields;
}

export function logRecordsIn(line: Fields): LogRecord[] {
  return listIn(line, "resourceLogs").flatMap((each) => {
    const root = fieldsOf(each);
    const shared = attributesOf(fieldsIn(root, "resource")["attributes"]);
    return listIn(root, "scopeLogs").flatMap((scope) =>
      listIn(fieldsOf(scope), "logRecords").map((value) => {
        const record = fieldsOf(value);
        const body = plainValue(record["body"]);
        return {
          body: typeof body === "string" ? body : null,
          timeMs: timeMsIn(record, ["timeUnixNano", "observedTimeUnixNano"]),
          attributes: { ...shared, ...attributesOf(record["attributes"]) },
        };
      }),
    );
  });
}

/** Some stores wrap the export, or call its parts batches. */
function rootsOf(line: Fields): readonly Fields[] {
  const places = [line, fieldsIn(line, "trace")];
  const lists = places.flatMap((place) =>
    ["resourceSpans", "resource_spans", "batches"].map((name) => listIn(place, name)),
  );
  const found = lists.find((list) => list.length > 0) ?? [];
  return found.filter(isObject).filter((root) => scopesOf(root).length > 0);
}

function scopesOf(root: Fields): readonly Fields[] {
  const names = ["scopeSpans", "scope_spans", "instrumentationLibrarySpans"];
  return names.flatMap((name) => listIn(root, name)).filter(isObject);
}

function toSpan(span: Fields, shared: Fields): Span {
  const status = fieldsIn(span, "status");
  const events = listIn(span, "events").map((event) => attributesOf(fieldsOf(event)["attributes"]));
  return {
    traceId: textIn(span, "traceId") ?? textIn(span, "trace_id") ?? "",
    spanId: textIn(span, "spanId") ?? textIn(span, "span_id") ?? "",
    parentSpanId: (textIn(span, "parentSpanId") ?? textIn(span, "parent_span_id")) || null,
    name: textIn(span, "name") ?? "",
    startMs: timeMsIn(span, ["startTimeUnixNano", "start_time_unix_nano"]),
    endMs: timeMsIn(span, ["endTimeUnixNano", "end_time_unix_nano"]),
    hasFailed: status["code"] === 2 || status["code"] === "STATUS_CODE_ERROR",
    attributes: Object.assign({}, ...events, shared, attributesOf(span["attributes"])),
  };
}

/** Nanoseconds are larger than numbers can be exactly, so they come as text. */
function timeMsIn(span: Fields, names: readonly string[]): number | null {
  const value = names.map((name) => span[name]).find((each) => each !== undefined);
  const text = typeof value === "number" ? value.toFixed(0) : value;
  if (typeof text !== "string" || !/^\d{13,}$/.test(text)) return null;
  return Number(text.slice(0, -6));
}

/** A list of keys and typed values, or already an object. */
function attributesOf(list: unknown): Fields {
  if (!Array.isArray(list)) return fieldsOf(list);
  return Object.fromEntries(
    list.flatMap((item: unknown) => {
      const { key, value } = fieldsOf(item);
      return typeof key === "string" ? [[key, plainValue(value)]] : [];
    }),
  );
}

function plainValue(value: unknown): unknown {
  if (!isObject(value)) return value;
  if ("stringValue" in value) return value["stringValue"];
  if ("intValue" in value) return Number(value["intValue"]);
  if ("doubleValue" in value) return value["doubleValue"];
  if ("boolValue" in value) return value["boolValue"];
  if ("arrayValue" in value) return listIn(fieldsIn(value, "arrayValue"), "values").map(plainValue);
  if ("kvlistValue" in value) return attributesOf(fieldsIn(value, "kvlistValue")["values"]);
  return undefined;
}
