// The only file of core that may import node:crypto.
import { hash } from "node:crypto";

/** SHA-256 in hex over UTF-8 bytes. */
export type ContentHash = string;

export function hashContent(content: string | Uint8Array): ContentHash {
  return hash("sha256", content, "hex");
}

/** The key of an empty prefix. */
export const emptyPrefixKey: ContentHash = hashContent("");

/**
 * The key of a prefix after one more piece. Two prefixes have the same key exactly when they were
 * built from the same pieces in the same order, so comparing prefixes is comparing two strings.
 */
export function extendPrefixKey(prefixKey: ContentHash, pieceHash: ContentHash): ContentHash {
  return hashContent(prefixKey + pieceHash);
}
