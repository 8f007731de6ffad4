// What a model call asks for, read from its whole body before it is sent: the model, and how much it may use. The body is not changed.
import {
  parseJsonTree,
  memberOf,
  listOf,
  type JsonNode,
  type JsonObject,
} from "../../core/message/json-tree.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { RequestAddress } from "../../core/wire/foreign/foreign-reader.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { BodyBytes } from "../observe/body-bytes.ts";
import { decodeWhole, isCoded } from "../observe/decode-content.ts";
import { scanBody, type ScannedBody } from "../observe/scan-body.ts";

export interface AskedCall {
  /** As the client spells it; never empty. */
  readonly model: string;
  /** Models that a router may take in its place. */
  readonly otherModels: readonly string[];
  /** Null if the client sets no limit. */
  readonly outputTokensMax: number | null;
  /** After decompression. */
  readonly bodyBytes: number;
}

export interface BodyToJudge {
  readonly pieces: readonly Buffer[];
  readonly address: RequestAddress;
  readonly protocol: Protocol;
  readonly bodyBytesMax: number;
}

/** Null for a body that cannot be read, or that two readers could read in two ways. */
export function readAsked({
  pieces,
  address,
  protocol,
  bodyBytesMax,
}: BodyToJudge): AskedCall | null {
  const encoding = address.headers["content-encoding"];
  const whole = isCoded(encoding)
    ? decodeWhole(encoding, Buffer.concat(pieces), bodyBytesMax)
    : null;
  if (isCoded(encoding) && whole === null) return null;
  const bytes = new BodyBytes(whole === null ? pieces : [whole]);
  const scanned = scanBody(bytes, null);
  const body = scanned === null ? null : readFrame(scanned, protocol);
  if (body === null) return null;
  const model = protocol.foreign.modelOf({ ...address, body });
  if (model === "") return null;
  const otherModels = listOf(body, "models").flatMap((each) =>
    each.kind === "string" ? each.text : [],
  );
  const outputTokensMax = limitIn(body, protocol);
  return { model, otherModels, outputTokensMax, bodyBytes: bytes.length };
}

/** The members that say what is asked for: the conversation itself is not parsed. */
function readFrame({ bytes, members }: ScannedBody, { foreign }: Protocol): JsonObject | null {
  const wanted = new Set([...modelMembers, ...foreign.outputLimits.map(firstOf)]);
  const read = new Map<string, JsonNode>();
  try {
    for (const [name, { start, end }] of members) {
      // Some servers read names without regard to case, and then this one might count.
      if (!modelMembers.includes(name) && likeModelMembers.test(name)) return null;
      if (wanted.has(name)) read.set(name, parseJsonTree(bytes.text(start, end), name));
    }
    return { kind: "object", members: read };
  } catch (error) {
    if (error instanceof StrataError) return null;
    throw error;
  }
}

/** Where bodies name their model. */
const modelMembers: readonly string[] = ["model", "modelId", "models"];

const likeModelMembers = /^(?:models?|modelid)$/i;

function firstOf(path: string): string {
  return path.split(".", 1)[0] ?? "";
}

/** The greatest, if there are several. */
function limitIn(body: JsonObject, { foreign }: Protocol): number | null {
  const found = foreign.outputLimits.flatMap((path) => {
    const node = path
      .split(".")
      .reduce<JsonNode | undefined>((at, name) => memberOf(at, name), body);
    const value = node?.kind === "scalar" ? Number(node.source) : Number.NaN;
    return Number.isFinite(value) && value >= 0 ? [Math.ceil(value)] : [];
  });
  return found.length === 0 ? null : Math.max(...found);
}
