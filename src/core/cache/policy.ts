// Blocks + rules + policy → cache plan. A policy is data: how a prompt is laid out, and where markers go.
import type { Layout } from "../assembly/layout.ts";
import type { PolicyName } from "./policy-names.ts";
import type { Lifetime } from "../message/usage.ts";

export interface Policy {
  readonly name: PolicyName;
  readonly summary: string;
  readonly layout: Layout;
  readonly markers: MarkerPart;
}

export { policyNames, type PolicyName } from "./policy-names.ts";

/** Fixed places in order of rank, or whatever costs least. */
export type MarkerPart =
  | { readonly kind: "rules"; readonly rules: readonly MarkerRule[] }
  | { readonly kind: "least-cost" };

/** Where a marker goes; earlier rules are fitted first when there are more than the provider takes. */
export interface MarkerRule {
  readonly place: MarkerPlace;
  /** Of those the provider offers, the nearest that is not longer; its shortest where none is. */
  readonly lifetime: Lifetime;
}

export type MarkerPlace =
  | { readonly at: "last tool" }
  /** The last block of each run of system blocks with one lifetime; named by label. */
  | { readonly at: "system block"; readonly label: string }
  | { readonly at: "last stable system block" }
  /** The last block that will be replayed as it is. */
  | { readonly at: "tail" }
  | { readonly at: "previous tail" }
  /** The last block of the latest message of the user that is not a tool result. */
  | { readonly at: "latest user" }
  /** The last blocks of the last messages, as many as there is room for up to the count. */
  | { readonly at: "last messages"; readonly count: number }
  /** One marker for the whole request, where the provider takes such a thing. */
  | { readonly at: "request" };
