// Tests that a document names as `FILE` "TITLE" → those that are not there.

export interface NamedTest {
  readonly file: string;
  /** As it is spelled in the file, with `%s` and `${name}`. */
  readonly title: string;
}

/** The text of a file, empty text for a folder, null for nothing. */
export type Look = (path: string) => string | null;

/** `FILE` "TITLE" */
const testPattern = /`([^`]+\.ts)` "([^"]+)"/g;

export function readNamedTests(text: string): readonly NamedTest[] {
  return [...text.matchAll(testPattern)].map(([, file = "", title = ""]) => ({ file, title }));
}

export function withoutNamedTests(text: string): string {
  return text.replaceAll(testPattern, "").replaceAll(/^[\s;]+|[\s;]+$/g, "");
}

/** What a row names that is not there: "names FILE which does not exist", a test likewise. */
export function findMissing(
  { files, tests }: { readonly files: readonly string[]; readonly tests: readonly NamedTest[] },
  look: Look,
): readonly string[] {
  const paths = new Set([...files, ...tests.map(({ file }) => file)]);
  const missing = [...paths].filter((path) => look(path) === null);
  const untrue = tests.filter(({ file, title }) => {
    const source = look(file);
    return source !== null && !hasTitle(source, title);
  });
  return [
    ...missing.map((path) => `names ${path} which does not exist`),
    ...untrue.map(({ file, title }) => `names test "${title}" which is not in ${file}`),
  ];
}

function hasTitle(source: string, title: string): boolean {
  return ['"', "'", "`"].some((quote) => source.includes(quote + title + quote));
}
