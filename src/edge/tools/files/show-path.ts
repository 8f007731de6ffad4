// A path in a result. A name may contain anything but a slash, and a line end in it must not look like two lines.

/** Unchanged, or quoted if it contains characters that would break the line. */
export function showPath(path: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(path) ? JSON.stringify(path) : path;
}
