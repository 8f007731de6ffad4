// Makes text storable in every database. Providers and people write text that UTF-8 or PostgreSQL cannot store.
import { escapeLoneSurrogates } from "../../../core/message/json-text.ts";

/** For text that people read: unstorable characters become U+FFFD. Deterministic. */
export function storable(text: string): string {
  return isPlain(text) ? text : text.toWellFormed().replaceAll("\u0000", "\uFFFD");
}

export function storableOrNull(text: string | undefined): string | null {
  return text === undefined ? null : storable(text);
}

/** Escapes unstorable characters; the JSON keeps its meaning. */
export function storableJson(json: string | undefined): string | null {
  if (json === undefined) return null;
  return isPlain(json) ? json : escapeLoneSurrogates(json).replaceAll("\u0000", "\\u0000");
}

export function isPlain(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}
