// Files that are too small to stand alone: under 30 lines, with one importer, they belong into it.
import type { Source } from "./read-sources.ts";

const linesMin = 30;

/** Commands are loaded by name, protocols have the same files each, and packages have entries. */
const exempt: readonly RegExp[] = [
  /^src\/cli\//,
  /^src\/core\/wire\//,
  /\/index\.ts$/,
  /^src\/(core\/assert|core\/strata-error|core\/hash)\.ts$/,
];

export interface Crumb {
  readonly file: string;
  readonly importer: string;
}

export function findCrumbs(
  sources: readonly Source[],
  entries: ReadonlySet<string>,
): readonly Crumb[] {
  return sources
    .filter(({ file, lines }) => lines < linesMin && !entries.has(file))
    .filter(({ file }) => !exempt.some((pattern) => pattern.test(file)))
    .flatMap(({ file }) => {
      const importers = sources.filter(({ imports }) => imports.includes(file));
      const [importer] = importers;
      if (importers.length !== 1 || importer === undefined) return [];
      return importer.file.endsWith("/index.ts") ? [] : [{ file, importer: importer.file }];
    });
}
