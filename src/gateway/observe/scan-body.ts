// Finds the members of a JSON object and the items of its lists, and compares bytes to see which of them an earlier body had.
import type { BodyBytes } from "./body-bytes.ts";

export interface ScannedBody {
  readonly bytes: BodyBytes;
  /** In the order written. */
  readonly members: ReadonlyMap<string, ScannedMember>;
}

export interface ScannedMember extends Span {
  /** Null for a value that is no list. */
  readonly items: ScannedItems | null;
  /** Whether the previous body had the same bytes here. */
  readonly isSame: boolean;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Items by their places, counted from the start of the list. */
export interface ScannedItems {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** How many of the first items are those of the previous body. */
  readonly keptCount: number;
  /** For each item after those, the index of the same bytes in the previous list. */
  readonly sameAs: ReadonlyMap<number, number>;
}

/** Null for bytes that are no JSON object, or for one with a repeated member, which has to be parsed whole. */
export function scanBody(bytes: BodyBytes, before: ScannedBody | null): ScannedBody | null {
  try {
    return scanObject(bytes, before);
  } catch (error) {
    if (error instanceof NoJson) return null;
    throw error;
  }
}

/** The scanner found something that is not JSON. */
class NoJson extends Error {}

function scanObject(bytes: BodyBytes, before: ScannedBody | null): ScannedBody | null {
  const members = new Map<string, ScannedMember>();
  let at = skipSpace(bytes, 0);
  if (bytes.at(at) !== open.object) throw new NoJson();
  at = skipSpace(bytes, at + 1);
  while (bytes.at(at) !== close.object) {
    const keyEnd = endOfString(bytes, at);
    const key: unknown = parseKey(bytes.text(at, keyEnd));
    if (typeof key !== "string" || members.has(key)) return null;
    at = skipSpace(bytes, keyEnd);
    if (bytes.at(at) !== colon) throw new NoJson();
    at = skipSpace(bytes, at + 1);
    const old = before?.members.get(key);
    const member = scanMember(
      bytes,
      at,
      old === undefined ? null : { bytes: before?.bytes ?? bytes, ...old },
    );
    members.set(key, member);
    at = afterItem(bytes, member.end, close.object);
  }
  if (skipSpace(bytes, at + 1) !== bytes.length) throw new NoJson();
  return { bytes, members };
}

function parseKey(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface OldMember extends ScannedMember {
  readonly bytes: BodyBytes;
}

function scanMember(bytes: BodyBytes, start: number, old: OldMember | null): ScannedMember {
  if (old !== null) {
    const length = old.end - old.start;
    const common = bytes.common(start, old.bytes, old.start, length);
    if (common === length && endsHere(bytes, start, start + length)) {
      const { items } = old;
      const kept = items && { ...items, keptCount: items.starts.length, sameAs: noneSame };
      return { start, end: start + length, items: kept, isSame: true };
    }
    if (bytes.at(start) === open.list && old.items !== null) {
      return scanList(bytes, start, { ...old, items: old.items }, common);
    }
  }
  if (bytes.at(start) === open.list) return scanList(bytes, start, null, 0);
  return { start, end: endOfValue(bytes, start), items: null, isSame: false };
}

const noneSame: ReadonlyMap<number, number> = new Map();

/** `common`: how many bytes the list shares with the old one at its beginning. */
function scanList(
  bytes: BodyBytes,
  start: number,
  old: (OldMember & { readonly items: ScannedItems }) | null,
  common: number,
): ScannedMember {
  const keptCount = old === null ? 0 : keptItems(bytes, start, old.items, common);
  const starts = old?.items.starts.slice(0, keptCount) ?? [];
  const ends = old?.items.ends.slice(0, keptCount) ?? [];
  const sameAs = new Map<number, number>();
  let next = keptCount;
  const last = ends.at(-1);
  let at =
    last === undefined ? skipSpace(bytes, start + 1) : afterItem(bytes, start + last, close.list);
  while (bytes.at(at) !== close.list) {
    const found = old === null ? null : findSame(bytes, at, old, next);
    const end = found === null ? endOfValue(bytes, at) : at + found.length;
    if (found === null) next += 1;
    else {
      sameAs.set(starts.length, found.index);
      next = found.index + 1;
    }
    starts.push(at - start);
    ends.push(end - start);
    at = afterItem(bytes, end, close.list);
  }
  return { start, end: at + 1, items: { starts, ends, keptCount, sameAs }, isSame: false };
}

/** Items that end within the common bytes. */
function keptItems(
  bytes: BodyBytes,
  start: number,
  { starts, ends }: ScannedItems,
  common: number,
): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] ?? 0) <= common) low = middle + 1;
    else high = middle;
  }
  const [from = 0, end = 0] = [starts[low - 1], ends[low - 1]];
  // A number may go on after the common digits.
  return low > 0 && !endsHere(bytes, start + from, start + end) ? low - 1 : low;
}

/** After a change: the old item at this index, or its neighbour, which an insertion or a removal moved here. */
function findSame(
  bytes: BodyBytes,
  at: number,
  old: OldMember & { readonly items: ScannedItems },
  next: number,
): { readonly index: number; readonly length: number } | null {
  const { starts, ends } = old.items;
  for (const index of [next, next - 1, next + 1]) {
    const [from, to] = [starts[index], ends[index]];
    if (from === undefined || to === undefined) continue;
    const length = to - from;
    const isSame = bytes.common(at, old.bytes, old.start + from, length) === length;
    if (isSame && endsHere(bytes, at, at + length)) return { index, length };
  }
  return null;
}

/** A string or a bracket has an end of its own; a number or a word ends where something else begins. */
function endsHere(bytes: BodyBytes, start: number, end: number): boolean {
  const first = bytes.at(start);
  if (first === quote || first === open.object || first === open.list) return true;
  return isScalarEnd(bytes.at(end));
}

/** The next item or the end of the list; one comma is between items. */
function afterItem(bytes: BodyBytes, end: number, closing: number): number {
  const at = skipSpace(bytes, end);
  if (bytes.at(at) === closing) return at;
  if (bytes.at(at) !== comma) throw new NoJson();
  const next = skipSpace(bytes, at + 1);
  if (bytes.at(next) === closing) throw new NoJson();
  return next;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const open = { list: 0x5b, object: 0x7b } as const;
const close = { list: 0x5d, object: 0x7d } as const;

// Values are parsed later, so the following only finds where they end.

function endOfValue(bytes: BodyBytes, start: number): number {
  const first = bytes.at(start);
  if (first === quote) return endOfString(bytes, start);
  if (first !== open.object && first !== open.list) return endOfScalar(bytes, start);
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes.at(at);
    if (byte === quote) at = endOfString(bytes, at) - 1;
    else if (byte === open.object || byte === open.list) depth += 1;
    else if (byte === close.object || byte === close.list) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  throw new NoJson();
}

function endOfString(bytes: BodyBytes, start: number): number {
  if (bytes.at(start) !== quote) throw new NoJson();
  for (let at = start + 1; ; at += 1) {
    at = bytes.indexOf(quote, at);
    if (at === -1) throw new NoJson();
    let slashes = 0;
    while (bytes.at(at - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
}

function endOfScalar(bytes: BodyBytes, start: number): number {
  let at = start;
  while (at < bytes.length && !isScalarEnd(bytes.at(at))) at += 1;
  if (at === start) throw new NoJson();
  return at;
}

function isScalarEnd(byte: number | undefined): boolean {
  return (
    byte === undefined ||
    byte === comma ||
    byte === close.list ||
    byte === close.object ||
    isSpace(byte)
  );
}

function skipSpace(bytes: BodyBytes, start: number): number {
  let at = start;
  while (isSpace(bytes.at(at))) at += 1;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
