// One way to hash text, for blocks, prefixes, counts and signatures.
import { hash } from "node:crypto";

export function hashText(...parts: readonly string[]): string {
  return hash("sha256", parts.join("\n"), "base64url");
}

/** Short enough for a signature, long enough never to meet its like by chance. */
export function shortHash(...parts: readonly string[]): string {
  return hashText(...parts).slice(0, 22);
}
