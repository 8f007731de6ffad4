// Any client's request body → blocks, markers and settings. The body itself is not changed.
import { hashContent, type ContentHash } from "../../hash.ts";
import { parseJsonTree, type JsonNode } from "../../message/json-tree.ts";
import { findModel } from "../../models/resolve-model.ts";
import { StrataError } from "../../strata-error.ts";
import { lengthCounter, type TokenCounter } from "../../tokens/token-counter.ts";
import type { Protocol } from "../protocol.ts";
import { protocols } from "../protocols.ts";
import { noAddress, type ModelAbilities, type RequestAddress } from "./foreign-reader.ts";
import {
  chainBlocks,
  type BlockDraft,
  type ForeignMarker,
  type ForeignRequest,
  type LooseBlock,
  type ReadShape,
} from "./foreign-request.ts";
import { recogniseProtocol } from "./recognise-protocol.ts";

export interface ReadOptions {
  /** Counts by length by default: replies give exact counts anyway. */
  readonly counter?: TokenCounter;
  /** Set if the caller knows it; by default found from address and body. */
  readonly protocol?: Protocol;
  readonly address?: RequestAddress;
  /** Facts of the model; looked up by its name by default. */
  readonly facts?: ModelAbilities;
  /** The protocols to choose from; all by default. */
  readonly protocols?: readonly Protocol[];
  /** Drafts that the provider takes out before it reads the prompt; none by default. */
  readonly leavesOut?: (draft: BlockDraft) => boolean;
}

/** Reads a body of any protocol. Throws for anything else. */
export function readRequest(body: string, options: ReadOptions = {}): ForeignRequest {
  const root = parseJsonTree(body, "the request body");
  const { protocol, model, shape } = readShape(root, options);
  const { drafts, ...rest } = shape;
  const { leavesOut } = options;
  const shown = leavesOut === undefined ? drafts : drafts.filter((draft) => !leavesOut(draft));
  return {
    protocol: protocol.name,
    model,
    ...toBlocks(shown, options.counter ?? lengthCounter),
    ...rest,
  };
}

interface ReadBody {
  readonly protocol: Protocol;
  readonly model: string;
  readonly shape: ReadShape;
}

function readShape(root: JsonNode, options: ReadOptions): ReadBody {
  const { protocols: rows = protocols, address = noAddress } = options;
  if (root.kind !== "object") throw unknownShape(rows);
  const seen = { ...address, body: root };
  const protocol = options.protocol ?? recogniseProtocol(seen, rows);
  if (protocol === undefined || !protocol.foreign.fits(root)) throw unknownShape(rows);
  const model = protocol.foreign.modelOf(seen);
  const facts = options.facts ?? findModel(model)?.facts;
  return { protocol, model, shape: protocol.foreign.read(root, facts) };
}

/** Equal hashes mean that a provider reads the same content. */
export function hashDraft(draft: Pick<BlockDraft, "role" | "kind" | "text">): ContentHash {
  return hashContent(`${draft.role}\n${nameOf(draft)}\n${draft.text}`);
}

function unknownShape(rows: readonly Protocol[]): StrataError {
  const titles = new Map<string, string[]>();
  for (const { title, foreign } of rows) {
    titles.set(foreign.needs, [...(titles.get(foreign.needs) ?? []), title]);
  }
  const members = [...titles].map(([member, of]) => `"${member}" (${of.join(", ")})`);
  return new StrataError(
    "input-invalid",
    "the body is not a request that Strata can read",
    `give a JSON object with ${members.join(" or ")}`,
  );
}

function toBlocks(
  drafts: readonly BlockDraft[],
  counter: TokenCounter,
): Pick<ForeignRequest, "blocks" | "markers"> {
  const markers: ForeignMarker[] = [];
  const blocks = drafts.map((draft, block): LooseBlock => {
    for (const marker of draft.markers) markers.push({ block, ...marker });
    return toLooseBlock(draft, counter);
  });
  return { blocks: chainBlocks(blocks), markers };
}

export function toLooseBlock(draft: BlockDraft, counter: TokenCounter): LooseBlock {
  const { path, section, tier, role, kind, text, endsMessage, mayCarryMarker } = draft;
  return {
    hash: hashDraft(draft),
    tokens: countDraft(draft, counter),
    tier,
    kind,
    role,
    endsMessage,
    mayCarryMarker,
    path,
    section,
    text,
    ...(role === "system" && tier === "T1" ? { label: section } : {}),
  };
}

/** Plain text and JSON of other blocks could be spelled alike. */
function nameOf({ kind }: Pick<BlockDraft, "kind">): string {
  return kind === "empty text" || kind === "system text" ? "text" : kind;
}

function countDraft({ counted, text }: BlockDraft, counter: TokenCounter): number {
  if (counted === null) return 0;
  return counted === undefined
    ? counter.text(text)
    : counter.message({ role: "user", content: [counted] });
}
