// What a provider keeps for a session under a name, and charges for by time: recorded before it is made, until it is gone.
import type { LoneCall } from "./call-entry.ts";

/** `creating`: it was asked for, and the answer is not recorded. `deleting`: the same for its deletion. */
export const resourceStates = ["creating", "live", "deleting", "gone"] as const;

export type ResourceState = (typeof resourceStates)[number];

export const resourceKinds = ["stored prefix"] as const;

export interface NewResource {
  /** Ours. The provider gets it as a label, so that what a crash left is found again. */
  readonly id: string;
  readonly sessionId: string;
  readonly kind: (typeof resourceKinds)[number];
  readonly provider: string;
  /** As `Session.modelName`: it finds the model in a catalogue. */
  readonly model: string;
  /** What it should hold. */
  readonly tokens: number;
  readonly createdMs: number;
  /** When the provider drops it by itself. */
  readonly expiresMs: number;
}

export interface ResourceRecord extends NewResource {
  readonly state: ResourceState;
  /** The provider's name for it; null until that is known. */
  readonly name: string | null;
  /** When it was deleted or expired; null before. */
  readonly endedMs: number | null;
  /** What keeping it cost; null before its end, or if that is not known. */
  readonly costPicoUsd: bigint | null;
  /** Whether the process that looks after it has certainly ended, or its session is deleted. */
  readonly isLeft: boolean;
}

/** A step in its life. What is not given stays. */
export interface ResourceChange extends Partial<
  Pick<ResourceRecord, "name" | "tokens" | "createdMs" | "expiresMs" | "endedMs">
> {
  readonly state: ResourceState;
  readonly costPicoUsd?: bigint | null;
  /** A call of its session that is recorded with the change: what making or keeping it cost. */
  readonly call?: LoneCall;
}

export interface ResourceFilter {
  readonly sessionId?: string;
  /** Also those that are gone; false by default. */
  readonly withGone?: boolean;
}
