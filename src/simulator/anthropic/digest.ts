// One way to fingerprint, for blocks, prefixes and signatures.
import { hash } from "node:crypto";

export function digest(...parts: readonly string[]): string {
  return hash("sha256", parts.join("\n"), "base64url");
}

/** Short enough for a signature, long enough never to meet its like by chance. */
export function shortDigest(...parts: readonly string[]): string {
  return digest(...parts).slice(0, 22);
}
