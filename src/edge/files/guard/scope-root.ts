// The root of a scope, and its entries.

export interface ScopeRoot {
  /** Without symlinks. */
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
  /** Distinguishes reused inode numbers. Absent if the system records no birth times. */
  readonly birthtimeNs?: bigint;
  /**
   * Whether entries can be addressed through their folder's descriptor. A name is then looked up in the very
   * folder that was checked. Otherwise the path is compared before and after, which leaves a short window for
   * swapped folders.
   */
  readonly hasDescriptorPaths: boolean;
}

export interface ScopedEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "symlink" | "other";
  readonly size: number;
}

/** A folder held open while its entries are in use. */
export interface ScopedFolder {
  /** The system path of an entry of this folder, or of the folder itself. */
  at(name: string): string;
  readonly self: string;
  /** Throws if the folder is no longer where it was found inside the root. */
  check(): Promise<void>;
  /** Makes renamed and new entries durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}
