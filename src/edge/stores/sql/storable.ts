// Text as every database keeps it. Providers and people write what UTF-8 or PostgreSQL cannot hold.
import { escapeLoneSurrogates } from "../../../core/message/json-text.ts";

/** For people to read: what cannot be kept becomes U+FFFD. The same text always becomes the same. */
export function storable(text: string): string {
  return isPlain(text) ? text : text.toWellFormed().replaceAll("\u0000", "\uFFFD");
}

export function storableOrNull(text: string | undefined): string | null {
  return text === undefined ? null : storable(text);
}

/** JSON that means the same. */
export function storableJson(json: string | undefined): string | null {
  if (json === undefined) return null;
  return isPlain(json) ? json : escapeLoneSurrogates(json).replaceAll("\u0000", "\\u0000");
}

export function isPlain(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}
