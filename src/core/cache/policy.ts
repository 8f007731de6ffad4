// Blocks + rules + policy → cache plan. A policy is data: the layout of a prompt and the places of markers.
import type { Layout } from "../assembly/layout.ts";
import type { Lifetime } from "../message/usage.ts";

export const policyNames = [
  "adaptive",
  "metis",
  "nexo",
  "hermes",
  "nexus",
  "tail-5m",
  "tail-1h",
  "automatic",
  "latest-user",
  "last-n",
  "system-only",
  "none",
] as const;

export type PolicyName = (typeof policyNames)[number];

export interface Policy {
  readonly name: PolicyName;
  readonly summary: string;
  readonly layout: Layout;
  readonly markers: MarkerPart;
}

/** Fixed places by rank, or the least expected cost. */
export type MarkerPart =
  | { readonly kind: "rules"; readonly rules: readonly MarkerRule[] }
  | { readonly kind: "least-cost" };

/** Whether there are any. A policy without markers means no caching, even if the provider would cache by itself. */
export function asksForMarkers(markers: MarkerPart): boolean {
  return markers.kind === "least-cost" || markers.rules.length > 0;
}

/** Where a marker goes. If there are more than the provider accepts, earlier rules win. */
export interface MarkerRule {
  readonly place: MarkerPlace;
  /** The provider's longest lifetime up to this one; otherwise its shortest. */
  readonly lifetime: Lifetime;
}

export type MarkerPlace =
  | { readonly at: "last tool" }
  /** The last block of each run of system blocks with one lifetime, named by label. */
  | { readonly at: "system block"; readonly label: string }
  | { readonly at: "last stable system block" }
  /** The last block that later calls repeat. */
  | { readonly at: "tail" }
  | { readonly at: "previous tail" }
  /** The last block of the latest user message that is not a tool result. */
  | { readonly at: "latest user" }
  /** The last blocks of the last messages, up to `count` as far as there is room. */
  | { readonly at: "last messages"; readonly count: number }
  /** One marker for the whole request, if the provider supports it. */
  | { readonly at: "request" };
