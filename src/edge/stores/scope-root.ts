// What a scope begins at, and what it finds there.

export interface ScopeRoot {
  /** Without symlinks. */
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
  /** Inode numbers are used again; missing where the system knows no births. */
  readonly birthtimeNs?: bigint;
  /**
   * Whether an entry can be named by its folder's descriptor. Then a name is looked up in the very folder that
   * was checked; elsewhere the way is compared before and after, which leaves a moment to whoever swaps folders.
   */
  readonly hasDescriptorPaths: boolean;
}

export interface ScopedEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "symlink" | "other";
  readonly size: number;
}

/** A folder that is held open while its entries are used. */
export interface ScopedFolder {
  /** Names an entry of this folder, or the folder itself, to the system. */
  at(name: string): string;
  readonly self: string;
  /** Throws when the folder is not, or not any more, where it was found inside the root. */
  check(): Promise<void>;
  /** Renamed and new entries are on the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}
