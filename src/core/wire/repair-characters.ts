// Lone surrogates, as at the end of text that was cut by length: the provider refuses a whole body for one.
import type { LeftOut } from "../assembly/spelling.ts";
import { escapeLoneSurrogates } from "../message/json-text.ts";
import type { JsonText } from "../message/message.ts";

export interface Repaired {
  readonly json: JsonText;
  /** How many halves were replaced. */
  readonly count: number;
}

/** The same JSON with U+FFFD for every lone surrogate, bare or escaped; without one, nothing changes. */
export function repairCharacters(json: JsonText): Repaired {
  if (json.isWellFormed() && !/\\u[dD][89a-fA-F]/.test(json)) return { json, count: 0 };
  let count = 0;
  const repaired = escapeLoneSurrogates(json).replaceAll(escapes, (escape, half?: string) => {
    if (half === undefined) return escape;
    count += 1;
    return "\uFFFD";
  });
  return { json: repaired, count };
}

/** Matches every escape (a pair, a half, any other), so that an escaped backslash before a `u` is not taken for one. */
const escapes =
  /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\[^]/g;

export function repairOf(where: string, count: number): LeftOut {
  const what = count === 1 ? "half a character" : `${count} halves of characters`;
  return { what: `${what} in ${where}`, reason: "the provider refuses it; U+FFFD is sent instead" };
}
