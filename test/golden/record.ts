// A scenario played to its end, as a value; and what differs between such a value and the one on record.
import { readFileSync, writeFileSync } from "node:fs";
import { dumpLedger, newerEvent } from "./dump-ledger.ts";
import { eventCatalogue, type StrataEvent } from "./kit.ts";
import { createNames, sha256, type Names } from "./normalise.ts";
import { formatRecord, parseRecord } from "./format-json.ts";
import type { SeenRequest, Stage } from "./stage.ts";

export interface GoldenRecord {
  readonly requests: readonly unknown[];
  readonly parts: readonly unknown[];
  readonly results: readonly unknown[];
  readonly events: readonly unknown[];
  readonly ledger: Readonly<Record<string, readonly unknown[]>>;
}

/** Requests first: what follows cannot change the names of ids in them. */
export function toRecord(stage: Stage): GoldenRecord {
  const names = createNames({ [stage.folder]: "<folder>", [stage.url]: "<server>" });
  const requests = toRequests(stage.seen, names);
  const parts = stage.parts.map((part) => names.inValue(part));
  const results = stage.results.map((result) => names.inValue(result));
  const told = toldIn(stage);
  const events = told.map((event) => toEvent(event, names));
  const rows = new Map(told.map((event) => [event.id, toRow(event)]));
  return { requests, parts, results, events, ledger: dumpLedger(stage.file, names, rows) };
}

/** Without events that the records are older than. */
export function toldIn({ told }: Pick<Stage, "told">): readonly StrataEvent[] {
  return told.filter(({ type }) => type !== newerEvent);
}

/** Its hash, and one for each part of the body that is not as in the request before: one sees where two differ. */
export function toRequests(seen: readonly SeenRequest[], names: Names): readonly object[] {
  let before: readonly string[] = [];
  let headersBefore = "";
  return seen.map(({ path, headers: list, body }) => {
    const headers = list.join(" ");
    const told = headers === headersBefore ? {} : { headers };
    headersBefore = headers;
    const named = names.inText(body);
    const pieces = toPieces(JSON.parse(named));
    const known = new Set(before);
    const outline = pieces.filter((piece) => !known.has(piece));
    const same = pieces.length - outline.length;
    before = pieces;
    return {
      path,
      bytes: Buffer.byteLength(body),
      sha256: sha256(named).slice(0, 32),
      ...told,
      outline: [...(same === 0 ? [] : [`${same} as before`]), ...outline],
    };
  });
}

function toPieces(body: unknown): readonly string[] {
  const fields = typeof body === "object" && body !== null ? Object.entries(body) : [];
  return fields.flatMap(([name, value]) =>
    Array.isArray(value)
      ? value.map((each, index) => `${name}.${index} ${toPiece(each)}`)
      : [`${name} ${toPiece(value)}`],
  );
}

/** With a star for each marker. */
function toPiece(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.length <= 40) return text;
  const markers = text.match(/"(?:cache_control|prompt_cache_breakpoint)":/g)?.length ?? 0;
  return `${sha256(text).slice(0, 8)} ${text.length}${"*".repeat(markers)}`;
}

/** Without how long tools took by the machine's clock. */
export function toEvent(event: StrataEvent, names: Names): object {
  const { id, timestampUs, sessionId, turnId, parentEventId, type, actor, sensitivity } = event;
  const isTimed = type.startsWith("tool.") || type.startsWith("confirmation.");
  const payload = Object.entries(event.payload).filter(
    ([key]) => !(isTimed && key === "latency_ms"),
  );
  return {
    event: names.inText(`${type} ${id}`),
    in: names.inText(`${sessionId} ${turnId ?? "-"}`),
    after: names.inText(parentEventId ?? "-"),
    at: names.inValue(timestampUs),
    ...(isUsual(event) ? {} : { by: `${actor}, ${sensitivity}` }),
    payload: names.inValue(Object.fromEntries(payload)),
  };
}

/** Who tells and who may know is catalogued; only what differs is of interest. */
function isUsual({ type, actor, sensitivity }: StrataEvent): boolean {
  const usual = eventCatalogue[type];
  return usual.actor === actor && usual.sensitivity === sensitivity;
}

function toRow(event: StrataEvent): object {
  return {
    id: event.id,
    timestamp_us: event.timestampUs,
    session_id: event.sessionId,
    turn_id: event.turnId,
    parent_event_id: event.parentEventId,
    type: event.type,
    actor: event.actor,
    sensitivity: event.sensitivity,
    payload_json: JSON.stringify(event.payload),
  };
}

/** In words, the first differences of each part; none where all is as recorded. Writes the record where that is wished. */
export function compareWithRecord(name: string, made: object): readonly string[] {
  const file = recordFile(name);
  const actual: unknown = JSON.parse(JSON.stringify(made));
  if (process.env["UPDATE_GOLDEN"] === "1") {
    writeFileSync(file, formatRecord(actual));
    return [];
  }
  const recorded = withoutOlder(readRecord(file));
  if (recorded === null) return [`there is no record ${name}.json: UPDATE_GOLDEN=1 makes it`];
  return Object.keys({ ...Object(recorded), ...Object(actual) }).flatMap((part) =>
    differences(Object(recorded)[part], Object(actual)[part], part).slice(0, differencesMax),
  );
}

/** Recorded values that mean something else now. */
function withoutOlder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOlder);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "routing_policy_version")
      .map(([key, each]) => [key, withoutOlder(each)]),
  );
}

const differencesMax = 3;

export const recordsFolder: URL = new URL("records/", import.meta.url);

function recordFile(name: string): URL {
  return new URL(`${name}.json`, recordsFolder);
}

function readRecord(file: URL): unknown {
  try {
    return parseRecord(readFileSync(file, "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function differences(recorded: unknown, actual: unknown, path: string): readonly string[] {
  if (isComposite(recorded) && isComposite(actual)) {
    const keys = Object.keys({ ...recorded, ...actual });
    return keys.flatMap((key) => differences(recorded[key], actual[key], `${path}.${key}`));
  }
  if (Object.is(recorded, actual)) return [];
  return [`${path} is ${shown(actual)}, and was ${shown(recorded)}`];
}

function isComposite(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "missing";
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}
