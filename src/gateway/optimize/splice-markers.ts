// Splices other markers into a client's body: its own bytes, with ours between them. Nothing is serialised again.
import { assert } from "../../core/assert.ts";
import { isObject } from "../../core/message/fields.ts";
import type { Span } from "../../core/message/json-text.ts";
import type { Lifetime } from "../../core/message/usage.ts";
import type { ForeignMarking, MarkWords } from "../../core/wire/foreign/foreign-reader.ts";
import type { ForeignMarker } from "../../core/wire/foreign/foreign-request.ts";
import type { ScannedBody } from "../observe/scan-body.ts";
import { spliceEdits, Unclear, type Edit, type Spliced } from "../repair/splice-edits.ts";
import { findPlace, type ObjectPlace, type TextPlace } from "../repair/find-place.ts";

export interface MarkersToSplice {
  /** The client's own markers; unwanted ones are removed. */
  readonly present: readonly ForeignMarker[];
  /** Whether the client marks the whole request; that marker is removed, too. */
  readonly marksRequest: boolean;
  readonly wanted: readonly WantedMarker[];
  readonly words: MarkWords;
  readonly marking: ForeignMarking;
}

export interface WantedMarker {
  /** The path of the block that carries it. */
  readonly path: string;
  readonly lifetime: Lifetime;
}

/** Null for a body in which a place of a marker cannot be found, or can be read in two ways. */
export function spliceMarkers(body: ScannedBody, markers: MarkersToSplice): Spliced | null {
  try {
    return spliceEdits(body.bytes, [...editsOf(body, markers)]);
  } catch (error) {
    if (error instanceof Unclear) return null;
    throw error;
  }
}

function* editsOf(body: ScannedBody, markers: MarkersToSplice): Generator<Edit> {
  const { present, wanted, words, marking } = markers;
  const places = new Map<string, Lifetime | null>(present.map(({ path }) => [path, null]));
  for (const { path, lifetime } of wanted) places.set(path, lifetime);
  for (const [path, lifetime] of places) {
    const place = findPlace(body, path);
    if (place === null) throw new Unclear();
    const marker = lifetime === null ? null : words.toMarker(lifetime);
    if (place.kind === "object") {
      const own = present.filter((each) => each.path === path);
      yield* editObject(body, place, { own, lifetime, marker }, marking);
    } else if (marker !== null) yield* wrapText(place, marker, marking);
  }
  yield* editRequest(body, markers);
}

interface ObjectMarkers {
  readonly own: readonly ForeignMarker[];
  readonly lifetime: Lifetime | null;
  readonly marker: readonly [name: string, json: string] | null;
}

function* editObject(
  { bytes }: ScannedBody,
  { members }: ObjectPlace,
  { own, lifetime, marker }: ObjectMarkers,
  { names }: ForeignMarking,
): Generator<Edit> {
  const found = members.flatMap(({ name }, at) => (names.includes(name) ? [at] : []));
  const [at] = found;
  if (found.length !== own.length || found.length > 1) throw new Unclear();
  if (at !== undefined) {
    if (own[0]?.lifetime === lifetime && members[at]?.name === marker?.[0]) return;
    yield without(members, at, (from) => startOfKey(bytes, from));
  }
  if (marker === null) return;
  // Another member comes first, because only objects with a type can carry a marker.
  const last = members.at(-1)?.value.end;
  if (last === undefined || members.length === found.length) throw new Unclear();
  yield { start: last, end: last, text: `,${member(marker)}` };
}

/** A member with the comma before it; the first one with the comma after it. */
function without(
  members: readonly { readonly value: Span }[],
  at: number,
  startOfKeyAt: (from: number) => number,
): Edit {
  const [before, own, next] = [members[at - 1], members[at], members[at + 1]];
  if (own === undefined) throw new Unclear();
  if (before !== undefined) return { start: before.value.end, end: own.value.end, text: "" };
  if (next === undefined) throw new Unclear();
  return { start: startOfKeyAt(own.value.start), end: startOfKeyAt(next.value.start), text: "" };
}

const [quote, backslash] = [0x22, 0x5c];

/** Where the key before a value begins. */
function startOfKey(bytes: ScannedBody["bytes"], value: number): number {
  let at = value - 1;
  while (bytes.at(at) !== quote) at -= 1;
  for (at -= 1; at >= 0; at -= 1) {
    if (bytes.at(at) !== quote) continue;
    let slashes = 0;
    while (bytes.at(at - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  throw new Unclear();
}

function member([name, json]: readonly [name: string, json: string]): string {
  return `${JSON.stringify(name)}:${json}`;
}

const stand = "the text of the client";

/** The text keeps its spelling; a list with one part is written around it. */
function wrapText(
  { start, end, member: whole }: TextPlace,
  [name, json]: readonly [name: string, json: string],
  marking: ForeignMarking,
): readonly Edit[] {
  const opened = whole === null ? stand : (marking.open?.({ [whole]: stand })[whole] ?? stand);
  const part = { ...marking.toPart(stand), [name]: JSON.parse(json) as unknown };
  const written = JSON.stringify(replaceText(opened, [part]));
  const [before, after, ...more] = written.split(JSON.stringify(stand));
  assert(before !== undefined && after !== undefined && more.length === 0, "a part has one text");
  return [
    { start, end: start, text: before },
    { start: end, end, text: after },
  ];
}

function replaceText(value: unknown, by: unknown): unknown {
  if (value === stand) return by;
  if (Array.isArray(value)) return value.map((each: unknown) => replaceText(each, by));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, replaceText(each, by)]),
  );
}

/** Members of the whole request. What the client says itself stays. */
function* editRequest(
  { bytes, members }: ScannedBody,
  { marksRequest, words, marking }: MarkersToSplice,
): Generator<Edit> {
  const all = [...members].map(([name, { start, end }]) => ({ name, value: { start, end } }));
  if (marksRequest) {
    const at = all.findIndex(({ name }) => marking.names.includes(name));
    yield without(all, at, (from) => startOfKey(bytes, from));
  }
  const added = words.members.filter(([name]) => !members.has(name));
  const last = all.at(-1)?.value.end;
  if (added.length === 0 || last === undefined) return;
  yield { start: last, end: last, text: added.map((each) => `,${member(each)}`).join("") };
}
