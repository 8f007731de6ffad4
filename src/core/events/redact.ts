// Removes credentials from free text before it enters an event. Removes too much rather than too little.
import { credentialPatterns, takeRandom, type Replacement } from "./credential-patterns.ts";

/** The longest free text in an event. */
export const freeTextLengthMax = 500;

/** Text beyond this is not examined. Every pattern below is bounded, so the work is too. */
const windowLength = 4096;

/** Longer than any credential's part before the end that reveals it, as in `user:secret@host`. */
const undecidedLength = 1024;

export function redact(text: string): string {
  const isCut = text.length > windowLength;
  const seen = patterns.reduce(
    (rest, [pattern, replacement]) => rest.replace(pattern, replacement),
    text.slice(0, windowLength),
  );
  const unnamed = takeRandom(seen, taken);
  const clean = (isCut ? unnamed.slice(0, -undecidedLength) : unnamed).toWellFormed();
  if (!isCut && clean.length <= freeTextLengthMax) return clean;
  const start = clean.slice(0, freeTextLengthMax - 32).toWellFormed();
  return `${start}… (of ${text.length} characters)`;
}

const taken = "[redacted]";

const patterns: readonly Replacement[] = [
  // scheme://user:secret@host. The password may contain characters that should have been escaped.
  [
    /([a-z][a-z0-9+.-]{0,31}:\/\/)(?:[^\s:/@"'<>]{0,128}:[^\s"'<>]{1,512}|[^\s/?#"'<>]{1,512})@/gi,
    `$1${taken}@`,
  ],
  // The same without the end: text after a colon that is not a port.
  [
    /([a-z][a-z0-9+.-]{0,31}:\/\/[^\s:/@"'<>[]{0,128}:)(?!\d{1,5}(?![^\s/?#"'<>,.;)\]]))[^\s"'<>]{1,512}/gi,
    `$1${taken}`,
  ],
  ...credentialPatterns(taken),
];
