// Makes text storable in every database. Providers and people write text that UTF-8 or PostgreSQL cannot store.
import { escapeLoneSurrogates } from "../../../core/message/json-text.ts";
import { StrataError } from "../../../core/strata-error.ts";

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

function isPlain(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

/** Tools and system text are stored byte for byte or not at all. `whose` is for the error, such as "session a". */
export function checkFoundation(whose: string, foundation: string | undefined): void {
  if (foundation === undefined || isPlain(foundation)) return;
  throw new StrataError(
    "input-invalid",
    `the foundation of ${whose} contains NUL or half of a surrogate pair`,
    "pass it as JSON text, which escapes them",
  );
}
