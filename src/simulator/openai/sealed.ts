// Text a client carries without reading it: encrypted_content of reasoning and of compaction.

const prefix = "gAAAAAsim-";

/** The same text gives the same seal. It only looks encrypted: nothing here is secret. */
export function seal(text: string): string {
  return prefix + Buffer.from(text, "utf8").toString("base64url");
}

/** Null for what another provider sealed. */
export function unseal(sealed: string): string | null {
  if (!sealed.startsWith(prefix)) return null;
  return Buffer.from(sealed.slice(prefix.length), "base64url").toString("utf8");
}

/** Ciphertext in base64 holds about three bytes in four characters, and a token is about four bytes. */
export function foreignTokens(sealed: string): number {
  return Math.ceil((sealed.length * 3) / 16);
}
