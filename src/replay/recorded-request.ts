// A recorded request as the diagnosis takes requests: blocks with hashes and without text, and the markers it had.
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
  /** All of them, those that the thread's call before had too. */
  readonly blocks: readonly RecordedBlock[];
  readonly facts: ModelFacts;
  /** Of markers, where the recording holds none. */
  readonly lifetime: Lifetime;
}

export function toForeignRequest(parts: RequestParts): ForeignRequest {
  const { session, request, facts } = parts;
  const mode = findProtocol(session.wire ?? "")?.foreign.unsaid.mode ?? "implicit";
  const isMarked = mode === "explicit";
  const markers = isMarked ? (request.markers ?? usualMarkers(parts)) : [];
  return {
    protocol: session.wire ?? "",
    model: request.model ?? facts.id,
    blocks: toForeignBlocks(parts.blocks),
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

/** A request that writes both has the longer one in front, and its tail is what matters. */
export function writtenLifetime(usage: Usage | null): Lifetime | null {
  const written = usage?.cacheWriteTokens ?? {};
  if ((written["5m"] ?? 0) > 0) return "5m";
  return (written["1h"] ?? 0) > 0 ? "1h" : null;
}

/** As agents mark: the end of the system prompt and the end of the last message. */
function usualMarkers({ blocks, lifetime }: RequestParts): readonly RecordedMarker[] {
  const tail = blocks.findLastIndex(({ mayCarryMarker }) => mayCarryMarker);
  const foundation = blocks.findIndex(({ tier }) => tier === "T3");
  const system = foundation === -1 ? blocks.length - 1 : foundation - 1;
  return [...new Set([system, tail])]
    .filter((block) => blocks[block]?.mayCarryMarker === true)
    .map((block) => ({ block, lifetime }));
}

function toForeignBlocks(recorded: readonly RecordedBlock[]): readonly ForeignBlock[] {
  return chainBlocks(
    recorded.map(({ hash, tokens, tier, kind, role, endsMessage, mayCarryMarker }, index) => ({
      hash,
      tokens,
      tier,
      kind,
      role,
      endsMessage,
      mayCarryMarker,
      path: pathOf(index),
      section: tier === "T3" ? `${kind} of the ${role}` : kind,
      text: "",
    })),
  );
}

/** Recordings have no body that a path could lead into. */
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
