// A path in a result: a name may hold anything but a slash, and a line end in it must not look like two.

/** As it is, or quoted where it holds what would break its line. */
export function showPath(path: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(path) ? JSON.stringify(path) : path;
}
