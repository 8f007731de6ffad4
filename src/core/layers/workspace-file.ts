// A document of a workspace: as it was read, and as a prompt shows it.
import type { ContentHash } from "../hash.ts";

/** In prompt order, which is also the order of getting room: slowest-changing first. */
export const workspaceFileKinds = [
  "agents",
  "claude",
  "identity",
  "soul",
  "document",
  "user",
  "memory",
] as const;

export type WorkspaceFileKind = (typeof workspaceFileKinds)[number];

export interface WorkspaceFile {
  readonly kind: WorkspaceFileKind;
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  /** The text as shown. It names what was cut. */
  readonly text: string;
  /** The hash of the bytes on disk; for a huge file, of the bytes read. */
  readonly hash: ContentHash;
  readonly bytes: number;
  readonly bytesLeftOut: number;
}

/** A document, read whole or up to a limit. */
export interface ReadDocument {
  readonly kind: WorkspaceFileKind;
  readonly path: string;
  readonly text: string;
  readonly hash: ContentHash;
  readonly bytes: number;
  readonly bytesUnread: number;
}

export interface BundleLimits {
  /** In UTF-8, including the line about what is missing. */
  readonly fileBytesMax: number;
  /** For all documents together. If room runs out, one line names the omitted documents. */
  readonly totalBytesMax: number;
}
