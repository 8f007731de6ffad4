// Repairs a body before anything else is done with it. The same request is always repaired in the same way, so all calls of a
// conversation are, on every node and after a restart.
import type { Span } from "../../core/message/json-text.ts";
import type { RepairName } from "../../core/wire/foreign/foreign-reader.ts";
import type { ForeignBlock } from "../../core/wire/foreign/foreign-request.ts";
import type { ReadDocument } from "../observe/read-body.ts";
import type { ScannedBody } from "../observe/scan-body.ts";
import { toolsMeanTheSame, type RepairsDone } from "./check-repaired.ts";
import { findPlace, type Place } from "./find-place.ts";
import { repairTools, type ToolRepairs } from "./repair-tools.ts";
import { spliceEdits, Unclear, type Edit } from "./splice-edits.ts";
import { findVolatileLines, type VolatileLines } from "./volatile-lines.ts";

export interface RepairedBody {
  readonly pieces: readonly Uint8Array[];
  readonly done: RepairsDone;
}

export interface BodyRepairer {
  /** Null if nothing changes. Throws `Unclear` for a body in which it is not clear what would mean the same. */
  repair(document: ReadDocument, wished: readonly RepairName[]): RepairedBody | null;
}

/** Remembers what became of the latest lists of tools and system texts: they are the same in every call. */
export function createBodyRepairer(): BodyRepairer {
  const tools = createMemory<string | null>();
  const lines = createMemory<VolatileLines | null>();
  return {
    repair: (document, wished) => {
      const { grown, protocol } = document;
      const { repairing } = protocol.foreign;
      if (grown === null || repairing === undefined || wished.length === 0) return null;
      const body = grown.scanned;
      const edits: Edit[] = [];
      const repairs: RepairName[] = [];
      const ofTools = wished.filter((name) => name !== moving && name !== dropping);
      if (ofTools.length > 0) {
        const edit = editTools(document, body, ofTools, tools);
        if (edit !== null) {
          edits.push(edit);
          repairs.push(...ofTools);
        }
      }
      const dropped = wished.includes(dropping) ? findVendorText(document) : [];
      if (dropped.length > 0) {
        edits.push(...dropped.map(({ path }) => removeItem(body, path)));
        repairs.push(dropping);
      }
      const moved = wished.includes(moving) ? moveLines(document, body, lines) : null;
      if (moved !== null) {
        edits.push(...moved.edits);
        repairs.push(moving);
      }
      if (edits.length === 0) return null;
      const { pieces } = spliceEdits(body.bytes, edits);
      const hashes = dropped.map(({ hash }) => hash);
      return { pieces, done: { repairs, dropped: hashes, moved: moved?.text ?? null } };
    },
  };
}

const dropping: RepairName = "drop_attribution";
const moving: RepairName = "volatile_to_tail";

function editTools(
  { protocol }: ReadDocument,
  { bytes, members }: ScannedBody,
  wished: readonly RepairName[],
  memory: Memory<string | null>,
): Edit | null {
  const { repairing, marking } = protocol.foreign;
  const member = repairing && members.get(repairing.tools);
  if (repairing === undefined || member === undefined || member.items === null) return null;
  const { start, end } = member;
  const source = bytes.text(start, end, "latin1");
  const how: ToolRepairs = {
    sorts: wished.includes("sort_tools"),
    hasCanonicalSchemas: wished.includes("canonical_schemas"),
    repairing,
    markerNames: marking?.names ?? [],
  };
  const repaired = memory(`${protocol.name} ${wished.join(" ")}\n${source}`, () => {
    const text = repairTools(source, how);
    if (text !== null && !toolsMeanTheSame(source, text, how.markerNames)) throw new Unclear();
    return text;
  });
  return repaired === null ? null : { start, end, text: Buffer.from(repaired, "latin1") };
}

/** The vendor takes it out itself; where it has, it is no block of the prompt. */
function findVendorText({ protocol, request }: ReadDocument): readonly ForeignBlock[] {
  const { vendorText } = protocol.foreign;
  const system = request.blocks.filter(({ tier }) => tier === "T1");
  const found = system.filter((block) => vendorText?.isIn({ tier: "T1", text: block.text }));
  const isMarked = found.some(({ path }) => request.markers.some((each) => each.path === path));
  return isMarked || found.length === system.length ? [] : found;
}

/** Up to the next item, or from the one before. */
function removeItem({ members }: ScannedBody, path: string): Edit {
  const [name = "", index = "", ...rest] = path.split(".");
  const member = members.get(name);
  if (member === undefined || member.items === null || rest.length > 0) throw new Unclear();
  const at = Number(index);
  const { starts, ends } = member.items;
  const [own, next, before] = [starts[at], starts[at + 1], ends[at - 1]];
  if (own !== undefined && next !== undefined) return between(member, own, next);
  if (before !== undefined) return between(member, before, ends[at] ?? before);
  throw new Unclear();
}

function between({ start }: Span, from: number, to: number): Edit {
  return { start: start + from, end: start + to, text: "" };
}

interface Moved {
  readonly edits: readonly Edit[];
  readonly text: string;
}

function moveLines(
  document: ReadDocument,
  body: ScannedBody,
  memory: Memory<VolatileLines | null>,
): Moved | null {
  const { request } = document;
  // More text in the user's last message would end a turn of a model that thinks.
  if (request.settings.thinking !== undefined) return null;
  const edits: Edit[] = [];
  const lines: string[] = [];
  for (const block of request.blocks) {
    if (block.tier !== "T1" || block.kind !== "system text") continue;
    const span = textSpan(findPlace(body, block.path));
    if (span === null) continue;
    const source = body.bytes.text(span.start, span.end, "latin1");
    const found = memory(source, () => findVolatileLines(source));
    if (found === null) continue;
    lines.push(...found.lines);
    edits.push(...found.cuts.map((cut) => ({ ...between(span, cut.start, cut.end) })));
  }
  if (lines.length === 0) return null;
  const json = `"${Buffer.from(lines.join(String.raw`\n`), "latin1").toString("utf8")}"`;
  return { edits: [...edits, ...appendText(document, body, json)], text: String(JSON.parse(json)) };
}

function textSpan(place: Place | null): Span | null {
  if (place?.kind === "text") return place;
  return place?.members.find(({ name }) => name === "text")?.value ?? null;
}

function appendText({ protocol, request }: ReadDocument, body: ScannedBody, json: string): Edit[] {
  const { repairing, growing, marking } = protocol.foreign;
  const list = body.members.get(growing?.member ?? "");
  const lastEnd = list?.items?.ends.at(-1);
  if (list === undefined || lastEnd === undefined) throw new Unclear();
  if (repairing?.toElement !== undefined) {
    const at = list.start + lastEnd;
    return [{ start: at, end: at, text: `,${repairing.toElement(json)}` }];
  }
  const last = request.blocks.findLast(({ tier, role }) => tier === "T3" && role === "user");
  const place = last === undefined ? null : findPlace(body, last.path);
  if (place === null || marking === undefined) throw new Unclear();
  const stand = "the text of the client";
  const written = JSON.stringify(marking.toPart(stand));
  const toPart = (text: string): string => written.replace(JSON.stringify(stand), () => text);
  if (place.kind === "object") return [insert(place.end, `,${toPart(json)}`)];
  // The message is a plain text.
  const [open, close] = written.split(JSON.stringify(stand));
  return [insert(place.start, `[${open}`), insert(place.end, `${close},${toPart(json)}]`)];
}

function insert(at: number, text: string): Edit {
  return { start: at, end: at, text };
}

type Memory<Value> = (source: string, make: () => Value) => Value;

function createMemory<Value>(): Memory<Value> {
  const known = new Map<string, Value>();
  return (source, make) => {
    const value = known.has(source) ? known.get(source) : make();
    known.delete(source);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is there, and may itself be undefined
    known.set(source, value as Value);
    for (const oldest of known.keys()) {
      if (known.size <= rememberedMax) break;
      known.delete(oldest);
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    return value as Value;
  };
}

/** Programs that are under way at once have a few each. */
const rememberedMax = 64;
