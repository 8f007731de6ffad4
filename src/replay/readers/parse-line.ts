// Parses one line of a file, or a whole file that is one JSON value.
import { isObject, type Fields } from "../../core/message/fields.ts";
import type { Line } from "./read-lines.ts";

export interface Parsed {
  readonly number: number;
  /** Undefined for an unusable line. */
  readonly fields: Fields | undefined;
  readonly reason: string;
}

/** One value for each object: a line may also be a list of them. Never empty. */
export function parseLine({ number, text, isEnded }: Line): readonly Parsed[] {
  const unusable = (reason: string): Parsed[] => [{ number, fields: undefined, reason }];
  if (text === null) return unusable("it is longer than 64 MB");
  if (text.length > longText && isDeep(text)) {
    return unusable(`it is nested deeper than ${levelsMax} levels`);
  }
  try {
    const value: unknown = JSON.parse(withOrderedKeys(text));
    const objects = Array.isArray(value) && value.length > 0 ? value : [value];
    if (!objects.every(isObject)) return unusable("it is not a JSON object");
    return objects.map((fields) => ({ number, fields, reason: "" }));
  } catch {
    return unusable(isEnded ? "it is not JSON" : "it is cut off");
  }
}

/** Millions of levels take gigabytes to parse, so long lines are looked at before. */
const longText = 1_000_000;
const levelsMax = 500;

function isDeep(text: string): boolean {
  let [level, isString] = [0, false];
  for (let at = 0; at < text.length && level <= levelsMax; at += 1) {
    const character = text[at];
    if (isString && character === "\\") at += 1;
    else if (character === '"') isString = !isString;
    else if (!isString && (character === "[" || character === "{")) level += 1;
    else if (!isString && (character === "]" || character === "}")) level -= 1;
  }
  return level > levelsMax;
}

/** JavaScript moves integer-like keys to the front; a leading space keeps them in order. */
function withOrderedKeys(text: string): string {
  return text.replaceAll(/([{,]\s*)"(?=\d+"\s*:)/g, '$1" ');
}
