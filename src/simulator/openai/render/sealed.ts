// encrypted_content of reasoning and compaction: text that the client sends back without reading it.

const prefix = "gAAAAAsim-";

/** The same text gives the same seal. It only looks encrypted; nothing here is secret. */
export function seal(text: string): string {
  return prefix + Buffer.from(text, "utf8").toString("base64url");
}

/** Null if the simulator did not seal it. */
export function unseal(sealed: string): string | null {
  if (!sealed.startsWith(prefix)) return null;
  return Buffer.from(sealed.slice(prefix.length), "base64url").toString("utf8");
}

/** Four base64 characters are three bytes, and a token is about four bytes. */
export function foreignTokens(sealed: string): number {
  return Math.ceil((sealed.length * 3) / 16);
}
