// Converts a recorded request for the diagnosis: blocks with hashes and without text, and markers.
import {
  chainBlocks,
  type ForeignBlock,
  type ForeignRequest,
  type RequestSettings,
} from "../core/wire/foreign/foreign-request.ts";
import { findProtocol } from "../core/wire/protocols.ts";
import type { Lifetime, Usage } from "../core/message/usage.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import type {
  RecordedBlock,
  RecordedMarker,
  RecordedRequest,
  RecordedSession,
} from "./recording.ts";

export interface RequestParts {
  readonly session: RecordedSession;
  readonly request: RecordedRequest;
  /** All blocks, including those of the thread's previous call. */
  readonly blocks: readonly RecordedBlock[];
  /** The blocks of the thread's previous call, as they were converted. */
  readonly before: readonly ForeignBlock[];
  readonly facts: ModelFacts;
  /** The lifetime of assumed markers, if the recording has none. */
  readonly lifetime: Lifetime;
}

export function toForeignRequest(parts: RequestParts): ForeignRequest {
  const { session, request, facts } = parts;
  const mode = cacheModeOf(session);
  const isMarked = mode === "explicit";
  const markers = isMarked ? (request.markers ?? usualMarkers(parts.blocks, parts.lifetime)) : [];
  return {
    protocol: session.wire ?? "",
    model: request.model ?? facts.id,
    blocks: growBlocks(parts.before, request),
    markers: markers.map((marker) => ({ ...marker, path: pathOf(marker.block) })),
    requestMarker: null,
    strayMarkers: [],
    mode,
    ownLifetime: null,
    settings: settingsOf(request, facts),
    keepsThinking: false,
    continues: false,
  };
}

/** Whether the client marks what to keep, or leaves it to the provider. */
export function cacheModeOf({ wire }: RecordedSession): "implicit" | "explicit" {
  return findProtocol(wire ?? "")?.foreign.cacheDefaults.mode ?? "implicit";
}

/** If a request writes two lifetimes, the longer one comes first; the tail's lifetime is returned. */
export function writtenLifetime(usage: Usage | null): Lifetime | null {
  const written = usage?.cacheWriteTokens ?? {};
  if ((written["5m"] ?? 0) > 0) return "5m";
  return (written["1h"] ?? 0) > 0 ? "1h" : null;
}

/** The usual markers of agents: the end of the system prompt and of the last message. */
export function usualMarkers(
  blocks: readonly RecordedBlock[],
  lifetime: Lifetime,
): readonly RecordedMarker[] {
  const tail = blocks.findLastIndex(({ mayCarryMarker }) => mayCarryMarker);
  const foundation = blocks.findIndex(({ tier }) => tier === "T3");
  const system = foundation === -1 ? blocks.length - 1 : foundation - 1;
  return [...new Set([system, tail])]
    .filter((block) => blocks[block]?.mayCarryMarker === true)
    .map((block) => ({ block, lifetime }));
}

/** Blocks that are sent again stay the same objects: a call costs what is new in it. */
function growBlocks(
  before: readonly ForeignBlock[],
  { keep, append }: RecordedRequest,
): readonly ForeignBlock[] {
  const kept = keep < before.length ? before.slice(0, keep) : before;
  const last = kept.at(-1);
  const added = append.map(({ excerpt: _excerpt, ...block }, index) => ({
    ...block,
    path: pathOf(kept.length + index),
    section: block.tier === "T3" ? `${block.kind} of the ${block.role}` : block.kind,
    text: "",
  }));
  return kept.concat(chainBlocks(added, last?.key, last?.endTokens));
}

/** Recordings have no body, so the path is only a block number. */
function pathOf(block: number): string {
  return `block ${block + 1}`;
}

function settingsOf({ settings }: RecordedRequest, { cache }: ModelFacts): RequestSettings {
  const known: Partial<Record<keyof RequestSettings, string>> = {};
  for (const { change } of cache.invalidation) {
    const value = settings[change];
    if (value !== undefined) known[change] = value;
  }
  return known;
}
