// The hash for blocks, prefixes, counts and signatures.
import { hash } from "node:crypto";

export function hashText(text: string, ...more: readonly string[]): string {
  return hash("sha256", more.length === 0 ? text : [text, ...more].join("\n"), "base64url");
}

/** 132 bits: short enough for a signature, long enough to avoid collisions. */
export function shortHash(text: string, ...more: readonly string[]): string {
  return hashText(text, ...more).slice(0, 22);
}
