// Which requests may be sent with our markers, by settings, model, server and body.
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { ForeignMarking, RepairName } from "../../core/wire/foreign/foreign-reader.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { CallToSend } from "../observe/call-rewriter.ts";
import type { ScannedBody } from "../observe/scan-body.ts";

export interface OptimizeSettings {
  /** Percent of the conversations. */
  readonly share: number;
  /** Percent of those that stay unchanged, to compare with. */
  readonly holdout: number;
  /** Names of upstreams; empty for every vendor's own. */
  readonly upstreams: readonly string[];
  /** Names of client programs, such as `claude-code`; empty for all. */
  readonly clients: readonly string[];
  /** Whether calls of a login, which a subscription pays, are changed, too. */
  readonly logins: boolean;
  /** What is changed besides markers. */
  readonly repairs: readonly RepairName[];
  /** Whether a vendor that explains its misses is asked to. */
  readonly diagnose: boolean;
  /** How long a conversation's first call may wait for another one that writes the same prefix; 0 for not at all. */
  readonly fanOutMs: number;
  /** What calls may cost that only keep or write a cache; null for no such calls. */
  readonly keepWarm: { readonly usdPerHour: number | null; readonly logins: boolean };
}

export interface OptimizerOptions {
  readonly settings: OptimizeSettings;
  readonly catalogue: Catalogue;
  readonly isVendor: (upstream: string, protocol: Protocol) => boolean;
}

export interface Markable {
  readonly facts: ModelFacts;
  readonly marking: ForeignMarking;
  readonly body: ScannedBody;
}

/** Null for a request that is better left alone. */
export function toMarkable(call: CallToSend, options: OptimizerOptions): Markable | null {
  const { document, facts, start } = call;
  const { request, protocol, grown } = document;
  const { marking } = protocol.foreign;
  if (facts === null || marking === undefined || grown === null) return null;
  // Where a marker is a block of its own, it would have to be spliced between blocks; we cannot do that yet.
  if (facts.cache.markers === null || marking.standsAlone === true) return null;
  // The provider holds the history, and decides what it keeps of it.
  if (request.continues || request.strayMarkers.length > 0) return null;
  const { members } = grown.scanned;
  if (marking.settings.some((name) => members.has(name))) return null;
  const { settings, catalogue, isVendor } = options;
  const isTaken =
    isVendor(start.upstream, protocol) ||
    settings.upstreams.includes(start.upstream) ||
    catalogue.routes.has(start.upstream) ||
    request.markers.length > 0;
  if (!isTaken) return null;
  const slots = marking.takesSlot.filter((name) => members.has(name)).length;
  return { facts: withoutSlots(facts, slots), marking, body: grown.scanned };
}

function withoutSlots(facts: ModelFacts, slots: number): ModelFacts {
  const { markers } = facts.cache;
  if (markers === null || slots === 0) return facts;
  const left = { ...markers, markersMax: markers.markersMax - slots };
  return { ...facts, cache: { ...facts.cache, markers: left } };
}
