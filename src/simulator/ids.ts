// Hashes, and ids made of them: reproducible with a seed, unguessable without one.
import { hash, randomBytes } from "node:crypto";

/** The hash for blocks, prefixes, counts and signatures. */
export function hashText(text: string, ...more: readonly string[]): string {
  return hash("sha256", more.length === 0 ? text : [text, ...more].join("\n"), "base64url");
}

/** 132 bits: short enough for a signature, long enough to avoid collisions. */
export function shortHash(text: string, ...more: readonly string[]): string {
  return hashText(text, ...more).slice(0, 22);
}

export interface Ids {
  /** `msg_` → `msg_01Xk…`. Never repeats, even after a reset: clients may remember old ids. */
  readonly newId: (prefix: string) => string;
  /** The workspace of an API key. The key cannot be recovered from it. */
  readonly workspaceOf: (key: string) => string;
}

export function createIds(seed: number | undefined): Ids {
  const salt = seed === undefined ? randomBytes(32).toString("hex") : `seed ${seed}`;
  let count = 0;
  return {
    newId: (prefix) => {
      count += 1;
      return `${prefix}${alphanumeric(`${salt}\nid\n${count}`)}`;
    },
    workspaceOf: (key) => `wrkspc_${alphanumeric(`${salt}\nworkspace\n${key}`)}`,
  };
}

/** A pseudo-random number in [0, 1), always the same for the same words. */
export function drawOf(words: string): number {
  return Number.parseInt(hash("sha256", words, "hex").slice(0, 12), 16) / 0x1_0000_0000_0000;
}

function alphanumeric(text: string): string {
  const letters = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  const bytes = hash("sha256", text, "buffer").subarray(0, 22);
  const spelled = [...bytes].map((byte) => letters[byte % letters.length] ?? "0").join("");
  return `01${spelled}`;
}
