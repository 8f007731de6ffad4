// The place where two texts differ, and a few printable characters around it.

const utf8 = new TextEncoder();

/** Characters at the beginning that are the same; never half a surrogate pair. */
export function sharedLength(left: string, right: string): number {
  const most = Math.min(left.length, right.length);
  let at = 0;
  // Whole slices first: comparing those is fast.
  while (
    at + sliceLength <= most &&
    left.slice(at, at + sliceLength) === right.slice(at, at + sliceLength)
  ) {
    at += sliceLength;
  }
  while (at < most && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  return at > 0 && at < Math.max(left.length, right.length) && isHighSurrogate(left, at - 1)
    ? at - 1
    : at;
}

const sliceLength = 1024;

/** Characters at the end that are the same, of what is not already shared at the beginning. */
export function sharedEnding(left: string, right: string, beginning: number): number {
  const most = Math.min(left.length, right.length) - beginning;
  let count = 0;
  while (
    count < most &&
    left.charCodeAt(left.length - 1 - count) === right.charCodeAt(right.length - 1 - count)
  ) {
    count += 1;
  }
  return count;
}

export function byteLength(text: string): number {
  return utf8.encode(text).length;
}

export const excerptLengthMax = 80;

/** Characters shown before the place. */
const leadLength = 24;

/** At most 80 characters around a place, with control characters made visible. */
export function excerptAt(text: string, at: number): string {
  const start = wholeFrom(text, Math.max(0, at - leadLength));
  let shown = start > 0 ? "…" : "";
  for (const character of text.slice(start, start + excerptLengthMax)) {
    const next = visible(character);
    if (shown.length + next.length >= excerptLengthMax) return `${shown}…`;
    shown += next;
  }
  return start + excerptLengthMax < text.length ? `${shown}…` : shown;
}

/** A copy that does not keep the original text in memory. */
export function detach(text: string): string {
  const copy: unknown = JSON.parse(JSON.stringify(text));
  return typeof copy === "string" ? copy : text;
}

function wholeFrom(text: string, at: number): number {
  return at > 0 && isHighSurrogate(text, at - 1) ? at - 1 : at;
}

function isHighSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xd800 && code <= 0xdbff;
}

const named: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\\": "\\\\",
};

/** Control characters, and characters that hide or reverse the text after them. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

function visible(character: string): string {
  const name = named[character];
  if (name !== undefined) return name;
  if (!hidden.test(character)) return character;
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
