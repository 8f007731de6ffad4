// A request that repeats most of an earlier one: only what is new is read, and the result equals a reading of the whole.
import { emptyPrefixKey } from "../../hash.ts";
import type { JsonNode, JsonObject } from "../../message/json-tree.ts";
import { lengthCounter, type TokenCounter } from "../../tokens/token-counter.ts";
import type { ModelAbilities } from "./foreign-reader.ts";
import {
  chainBlocks,
  type BlockDraft,
  type ForeignBlock,
  type ForeignMarker,
  type ForeignRequest,
  type LooseBlock,
} from "./foreign-request.ts";
import {
  draftsOf,
  type GrowingReader,
  type ReadElement,
  type ReadFrame,
} from "./growing-reader.ts";
import { toLooseBlock } from "./read-request.ts";

/** A request with what the next one of its conversation can take over. */
export interface GrownRequest {
  readonly request: ForeignRequest;
  readonly reader: GrowingReader;
  /** The body without the elements; the same value as long as nothing in it changes. */
  readonly body: JsonObject;
  readonly frame: ReadFrame;
  /** What was seen in the elements. */
  readonly carried: unknown;
  /** What frame and elements say together, such as the settings. */
  readonly rest: ReturnType<GrowingReader["finish"]>;
  readonly head: Piece;
  readonly elements: readonly GrownElement[];
  /** The last element that closes those before it; -1 for none. */
  readonly closed: number;
}

interface GrownElement extends Piece {
  readonly read: ReadElement;
  readonly isClosed: boolean;
  /** Its first block, and its markers, among those of the whole request. */
  readonly firstBlock: number;
}

/** Blocks before they are chained, and the markers on them by their place among them. */
interface Piece {
  readonly loose: readonly LooseBlock[];
  readonly markers: readonly ForeignMarker[];
}

export interface NextRequest {
  readonly protocol: string;
  readonly model: string;
  readonly reader: GrowingReader;
  readonly body: JsonObject;
  readonly facts: ModelAbilities | undefined;
  readonly elementCount: number;
  /** How many elements at the beginning are those of the request before. */
  readonly keptCount: number;
  /** Whether a later element is the one that stood at the same place before. */
  isKept(index: number): boolean;
  nodeAt(index: number): JsonNode;
  /** Drafts around the elements that the provider takes out before it reads the prompt. */
  readonly leavesOut?: (draft: BlockDraft) => boolean;
  readonly counter?: TokenCounter;
}

/** `before` is of the same reader and counter; null for none. */
export function growRequest(before: GrownRequest | null, next: NextRequest): GrownRequest {
  const { reader, body, facts, protocol, model } = next;
  // The model may be named outside the body.
  const isSameBody = before !== null && before.body === body && before.request.model === model;
  const frame = isSameBody ? before.frame : reader.readFrame(body, facts);
  const head = isSameBody ? before.head : toHead(frame, next, before);
  const isSameHead = before !== null && head.loose === before.head.loose;
  const { elements, carried, rebuiltFrom, closed } = readElements(
    before,
    next,
    frame,
    head.loose.length,
  );
  const from = isSameHead ? rebuiltFrom : 0;
  const keptBlocks =
    from === 0 ? [] : blocksBefore(before, elements[from]?.firstBlock ?? countOf(head, elements));
  const start = keptBlocks.length;
  const loose = [
    ...(from === 0 ? head.loose : []),
    ...elements.slice(from).flatMap((each) => each.loose),
  ];
  const blocks = chainAfter(keptBlocks, loose);
  const headCount = head.loose.length;
  const oldMarkers = from === 0 ? [] : (before?.request.markers ?? []);
  const markers = [
    ...head.markers,
    ...oldMarkers.filter(({ block }) => block >= headCount && block < start),
    ...elements.slice(from).flatMap(markersIn),
  ];
  // The same settings stay the same value, so that nothing is derived from them again.
  const isSameRest = isSameBody && isEqual(carried, before.carried);
  const rest = isSameRest ? before.rest : reader.finish(frame, carried);
  const request = { protocol, model, blocks, markers, ...rest };
  const kept = keepBlocks(head, elements, blocks, from, isSameHead);
  return { request, reader, body, frame, carried, rest, ...kept, closed };
}

/** Pieces hold the blocks of the request itself: each block is in memory once. */
function keepBlocks(
  head: Piece,
  elements: readonly GrownElement[],
  blocks: readonly ForeignBlock[],
  from: number,
  isSameHead: boolean,
): Pick<GrownRequest, "head" | "elements"> {
  const added = elements.slice(from).map((element) => {
    const { firstBlock, loose, read } = element;
    // Drafts are needed again only for what a later element may close.
    const slim = read.whenClosed === undefined ? { ...read, drafts: [] } : read;
    return { ...element, read: slim, loose: blocks.slice(firstBlock, firstBlock + loose.length) };
  });
  return {
    head: isSameHead ? head : { ...head, loose: blocks.slice(0, head.loose.length) },
    elements: from === 0 ? added : elements.slice(0, from).concat(added),
  };
}

function blocksBefore(before: GrownRequest | null, end: number): readonly ForeignBlock[] {
  const blocks = before?.request.blocks ?? [];
  return end === blocks.length ? blocks : blocks.slice(0, end);
}

function countOf(head: Piece, elements: readonly GrownElement[]): number {
  const last = elements.at(-1);
  return last === undefined ? head.loose.length : last.firstBlock + last.loose.length;
}

function chainAfter(
  kept: readonly ForeignBlock[],
  loose: readonly LooseBlock[],
): readonly ForeignBlock[] {
  const last = kept.at(-1);
  const added = chainBlocks(loose, last?.key ?? emptyPrefixKey, last?.endTokens ?? 0);
  return kept.length === 0 ? added : kept.concat(added);
}

function markersIn({ markers, firstBlock }: GrownElement): readonly ForeignMarker[] {
  return markers.map((marker) => ({ ...marker, block: firstBlock + marker.block }));
}

interface ReadElements {
  readonly elements: readonly GrownElement[];
  readonly carried: unknown;
  readonly closed: number;
  /** The first element whose blocks are not those of the request before. */
  readonly rebuiltFrom: number;
}

function readElements(
  before: GrownRequest | null,
  next: NextRequest,
  frame: ReadFrame,
  headCount: number,
): ReadElements {
  const { reader, elementCount } = next;
  const isSameFrame = before !== null && before.frame.forElements === frame.forElements;
  const shift = headCount - (before?.head.loose.length ?? 0);
  const old = before?.elements ?? [];
  // With another frame, every element that uses it is read again.
  const firstUsing = isSameFrame ? -1 : old.findIndex(({ read }) => read.usesFrame);
  const kept = Math.min(next.keptCount, old.length, firstUsing === -1 ? Infinity : firstUsing);
  const elements: GrownElement[] = old.slice(0, kept);
  if (shift !== 0) moveAll(elements, shift);
  let carried: unknown = elements.at(-1)?.read.carried ?? reader.start;
  let firstBlock = kept === 0 ? headCount : endOf(elements.at(-1));
  let closed = -1;
  for (let index = kept; index < elementCount; index += 1) {
    const same = next.isKept(index) ? old[index] : undefined;
    const carriedBefore: unknown = old[index - 1]?.read.carried ?? reader.start;
    const isUsable =
      same !== undefined &&
      (isSameFrame || !same.read.usesFrame) &&
      isEqual(carriedBefore, carried);
    const read = isUsable
      ? same.read
      : reader.readElement(next.nodeAt(index), index, { frame, carried });
    const piece = isUsable && !same.isClosed ? same : toPiece(draftsOf(read, false), next.counter);
    elements.push({
      loose: piece.loose,
      markers: piece.markers,
      read,
      isClosed: false,
      firstBlock,
    });
    firstBlock += piece.loose.length;
    carried = read.carried;
    if (read.closes) closed = index;
  }
  if (closed === -1) closed = lastClosing(elements, kept, before?.closed ?? -1);
  const places = { kept, closed, before: before?.closed ?? -1 };
  const rebuiltFrom = Math.min(kept, closeUpTo(elements, places, next.counter));
  return { elements, carried, closed, rebuiltFrom };
}

function moveAll(elements: GrownElement[], shift: number): void {
  for (const [index, element] of elements.entries()) {
    elements[index] = { ...element, firstBlock: element.firstBlock + shift };
  }
}

function endOf(element: GrownElement | undefined): number {
  return element === undefined ? 0 : element.firstBlock + element.loose.length;
}

/** The last element before `end` that closes others, given the last one of the request before. */
function lastClosing(elements: readonly GrownElement[], end: number, before: number): number {
  if (before < end) return before;
  let index = end - 1;
  while (index >= 0 && elements[index]?.read.closes !== true) index -= 1;
  return index;
}

interface ClosingPlaces {
  readonly kept: number;
  readonly closed: number;
  /** Where the request before closed. */
  readonly before: number;
}

/** Opens and closes what a later element closes. Returns the first element that changed; the number of elements for none. */
function closeUpTo(
  elements: GrownElement[],
  { kept, closed, before }: ClosingPlaces,
  counter: TokenCounter | undefined,
): number {
  // Kept elements before both places were closed and stay so.
  const from = closed === before ? kept : Math.min(kept, Math.max(0, Math.min(closed, before)));
  let first = elements.length;
  for (let index = elements.length - 1; index >= from; index -= 1) {
    const element = elements[index];
    const isClosed = index < closed;
    if (element?.read.whenClosed === undefined || element.isClosed === isClosed) continue;
    const { loose, markers } = toPiece(draftsOf(element.read, isClosed), counter);
    elements[index] = { ...element, loose, markers, isClosed };
    first = index;
  }
  return first;
}

/** The blocks of the request before where they are equal. */
function toHead(frame: ReadFrame, next: NextRequest, before: GrownRequest | null): Piece {
  const { leavesOut } = next;
  const drafts =
    leavesOut === undefined ? frame.drafts : frame.drafts.filter((each) => !leavesOut(each));
  const piece = toPiece(drafts, next.counter);
  const old = before?.head.loose ?? [];
  const isSame =
    old.length === piece.loose.length &&
    piece.loose.every((block, index) => hasAll(old[index], block));
  return isSame ? { ...piece, loose: old } : piece;
}

function toPiece(drafts: readonly BlockDraft[], counter: TokenCounter = lengthCounter): Piece {
  return {
    loose: drafts.map((draft) => toLooseBlock(draft, counter)),
    markers: drafts.flatMap((draft, block) =>
      draft.markers.map((marker) => ({ block, ...marker })),
    ),
  };
}

/** Whether a block has every member of another, as a chained one has those of a loose one. */
function hasAll(block: LooseBlock | undefined, loose: LooseBlock): boolean {
  const members = new Map<string, unknown>(Object.entries(block ?? {}));
  return Object.entries(loose).every(([name, value]) => members.get(name) === value);
}

/** Flat objects with the same members. */
function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) {
    return false;
  }
  const [one, other] = [Object.entries(left), new Map<string, unknown>(Object.entries(right))];
  return one.length === other.size && one.every(([name, value]) => other.get(name) === value);
}
