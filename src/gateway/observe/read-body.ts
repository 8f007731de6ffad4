// The body of a request → its model call, if it is one. The parts that an earlier body of the conversation had are not parsed again.
import { parseJsonTree, type JsonNode, type JsonObject } from "../../core/message/json-tree.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { readAsked, type AskedSettings } from "../../core/wire/foreign/asked-settings.ts";
import type { RequestAddress, RequestNames } from "../../core/wire/foreign/foreign-reader.ts";
import type { BlockDraft, ForeignRequest } from "../../core/wire/foreign/foreign-request.ts";
import { growRequest, type GrownRequest } from "../../core/wire/foreign/grow-request.ts";
import type { GrowingReader } from "../../core/wire/foreign/growing-reader.ts";
import { readRequest } from "../../core/wire/foreign/read-request.ts";
import { recogniseProtocol } from "../../core/wire/foreign/recognise-protocol.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { BodyBytes } from "./body-bytes.ts";
import { scanBody, type ScannedBody, type ScannedMember, type Span } from "./scan-body.ts";

/** A parsed body, to compare the conversation's next one with. */
export interface ReadDocument {
  readonly protocol: Protocol;
  readonly request: ForeignRequest;
  readonly names: RequestNames | null;
  readonly asked: AskedSettings;
  readonly byteLength: number;
  /** How many of its bytes were parsed. */
  readonly parsedBytes: number;
  /** Checksums of the body's beginnings. */
  readonly prints: readonly string[];
  /** Null for a protocol whose requests are read whole. */
  readonly grown: Grown | null;
  /** The client's own body, if this one was made of it. */
  readonly original?: ReadDocument;
}

interface Grown {
  readonly scanned: ScannedBody;
  readonly nodes: ReadonlyMap<string, JsonNode>;
  readonly request: GrownRequest;
  readonly isForVendor: boolean;
}

export interface BodyToRead {
  readonly bytes: BodyBytes;
  readonly prints: readonly string[];
  readonly address: RequestAddress;
  /** The protocols that are spoken at this address. */
  readonly rows: readonly Protocol[];
  /** Earlier bodies that may have the same beginning, most likely first. */
  readonly before: readonly ReadDocument[];
  /** Whether the upstream is the own API of a protocol's vendor: it takes some text of its clients out of the prompt. */
  readonly isVendor: (protocol: Protocol) => boolean;
}

/** Null for a body that is no model call. Throws for one that is not JSON. */
export function readBody(body: BodyToRead): ReadDocument | null {
  const before = likest(body.bytes, body.before);
  const scanned = scanBody(body.bytes, before?.grown?.scanned ?? null);
  const found = scanned === null ? null : readGrown(body, scanned, before);
  return found === "none" ? null : (found ?? readWhole(body));
}

/** The earlier body with the longest common beginning. */
export function likest(bytes: BodyBytes, before: readonly ReadDocument[]): ReadDocument | null {
  const known = before.filter(({ grown }) => grown !== null);
  if (known.length < 2) return known[0] ?? null;
  let best: ReadDocument | null = null;
  let most = -1;
  for (const document of known) {
    const old = document.grown?.scanned.bytes;
    if (old === undefined) continue;
    const searched = Math.min(old.length, searchedBytesMax);
    const common = bytes.common(0, old, 0, searched);
    if (common > most) [best, most] = [document, common];
    if (common * 2 > searched) break;
  }
  return best;
}

/** Bodies that share this much may be forks of one conversation, and then the likelier one is good enough. */
const searchedBytesMax = 262_144;

function readGrown(
  body: BodyToRead,
  scanned: ScannedBody,
  before: ReadDocument | null,
): ReadDocument | "none" | null {
  const parser = createParser(body.bytes);
  const protocol = protocolOf(body, scanned, parser, before);
  if (protocol === undefined) return "none";
  const reader = protocol.foreign.growing;
  const list = reader === undefined ? undefined : scanned.members.get(reader.member);
  if (reader === undefined || list === undefined || list.items === null) return null;
  const isForVendor = leavesVendorText(protocol, body);
  const usable =
    before?.protocol === protocol && before.grown?.isForVendor === isForVendor
      ? before.grown
      : null;
  const frame = readFrame(scanned, reader, parser, usable);
  const model = protocol.foreign.modelOf({ ...body.address, body: frame.body });
  const facts: ModelFacts | undefined = findModel(model)?.facts;
  const request = growRequest(usable?.request ?? null, {
    protocol: protocol.name,
    model,
    reader,
    body: frame.body,
    facts,
    ...elementsOf(list, list.items, parser),
    ...leavesOut(protocol, isForVendor),
  });
  return {
    protocol,
    request: request.request,
    names: protocol.foreign.namesIn?.(frame.body) ?? null,
    asked: readAsked(frame.body, body.address.path),
    byteLength: body.bytes.length,
    parsedBytes: parser.parsedBytes(),
    prints: body.prints,
    grown: { scanned, nodes: frame.nodes, request, isForVendor },
  };
}

function leavesVendorText(protocol: Protocol, { isVendor }: Pick<BodyToRead, "isVendor">): boolean {
  const { access, foreign } = protocol;
  // A cloud that serves another vendor's models has its own protocol, and removes nothing.
  const isOwn = foreign.vendorText?.vendor === access.vendor?.name;
  return foreign.vendorText !== undefined && isOwn && isVendor(protocol);
}

/** Leaves out what the vendor itself removes from the prompt. */
export function leavesOut(
  { foreign: { vendorText } }: Protocol,
  isForVendor: boolean,
): { readonly leavesOut?: (draft: BlockDraft) => boolean } {
  return isForVendor ? { leavesOut: (draft) => vendorText?.isIn(draft) === true } : {};
}

interface Parser {
  parse(span: Span): JsonNode;
  parsedBytes(): number;
}

function createParser(bytes: BodyBytes): Parser {
  let count = 0;
  return {
    parse: ({ start, end }) => {
      count += end - start;
      return parseJsonTree(bytes.text(start, end), "the request body");
    },
    parsedBytes: () => count,
  };
}

/** Most addresses have one protocol. Where they have several, the content decides, once for each conversation. */
function protocolOf(
  { address, rows }: BodyToRead,
  scanned: ScannedBody,
  parser: Parser,
  before: ReadDocument | null,
): Protocol | undefined {
  const shape = shapeOf(scanned);
  const fitting = rows.filter(({ foreign }) => foreign.fits(shape));
  if (fitting.length < 2) return fitting[0];
  if (before !== null && fitting.includes(before.protocol)) return before.protocol;
  const whole = parser.parse({ start: 0, end: scanned.bytes.length });
  return whole.kind === "object"
    ? recogniseProtocol({ ...address, body: whole }, fitting)
    : undefined;
}

/** The members, each with an empty value of the same kind. */
function shapeOf({ bytes, members }: ScannedBody): JsonObject {
  const shapes = [...members].map(([name, { start, end, items }]): [string, JsonNode] => {
    if (items !== null) return [name, { kind: "list", items: [] }];
    if (bytes.at(start) === 0x22) return [name, { kind: "string", text: "" }];
    if (bytes.at(start) === 0x7b) return [name, { kind: "object", members: new Map() }];
    return [name, { kind: "scalar", source: bytes.text(start, Math.min(end, start + 40)) }];
  });
  return { kind: "object", members: new Map(shapes) };
}

interface FrameNodes {
  readonly body: JsonObject;
  readonly nodes: ReadonlyMap<string, JsonNode>;
}

/** Everything but the elements; the same object as before if nothing else changed. */
function readFrame(
  { members }: ScannedBody,
  { member: growing }: GrowingReader,
  parser: Parser,
  before: Grown | null,
): FrameNodes {
  const nodes = new Map<string, JsonNode>();
  for (const [name, member] of members) {
    if (name === growing) nodes.set(name, emptyList);
    else nodes.set(name, frameNode(member, before?.nodes.get(name), parser));
  }
  const old = before?.nodes;
  const isSame =
    old?.size === nodes.size && [...nodes].every(([name, node]) => old.get(name) === node);
  if (isSame && before !== null) return { body: before.request.body, nodes: before.nodes };
  return { body: { kind: "object", members: nodes }, nodes };
}

const emptyList: JsonNode = { kind: "list", items: [] };

/** Only new items of a list, such as the tools, are parsed. */
function frameNode(
  { start, end, items, isSame }: ScannedMember,
  old: JsonNode | undefined,
  parser: Parser,
): JsonNode {
  if (isSame && old !== undefined) return old;
  if (items === null) return parser.parse({ start, end });
  const { starts, ends, keptCount, sameAs } = items;
  const known = old?.kind === "list" ? old.items : [];
  return {
    kind: "list",
    items: starts.map((from, index) => {
      const place = index < keptCount ? index : sameAs.get(index);
      const kept = place === undefined ? undefined : known[place];
      return kept ?? parser.parse({ start: start + from, end: start + (ends[index] ?? from) });
    }),
  };
}

function elementsOf(
  { start }: ScannedMember,
  { starts, ends, keptCount, sameAs }: NonNullable<ScannedMember["items"]>,
  parser: Parser,
): Pick<Parameters<typeof growRequest>[1], "elementCount" | "keptCount" | "isKept" | "nodeAt"> {
  return {
    elementCount: starts.length,
    keptCount,
    isKept: (index) => index < keptCount || sameAs.get(index) === index,
    nodeAt: (index) =>
      parser.parse({ start: start + (starts[index] ?? 0), end: start + (ends[index] ?? 0) }),
  };
}

function readWhole({ bytes, prints, address, rows, isVendor }: BodyToRead): ReadDocument | null {
  const text = bytes.text(0, bytes.length);
  const root = parseJsonTree(text, "the request body");
  if (root.kind !== "object") return null;
  const protocol = recogniseProtocol({ ...address, body: root }, rows);
  if (protocol === undefined) return null;
  const options = {
    protocol,
    address,
    ...leavesOut(protocol, leavesVendorText(protocol, { isVendor })),
  };
  return {
    protocol,
    request: readRequest(text, options),
    names: protocol.foreign.namesIn?.(root) ?? null,
    asked: readAsked(root, address.path),
    byteLength: bytes.length,
    parsedBytes: bytes.length,
    prints,
    grown: null,
  };
}
