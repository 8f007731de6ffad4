// Watches a configuration file with all that it includes.
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { ConfigNode, Origin } from "../../core/config/config-node.ts";
import type { ConfigProblem } from "../../core/config/config-problem.ts";
import { includedPaths, type IncludedPath } from "../../core/config/schema/include.ts";
import type { ConfigFile } from "./read-config-file.ts";
import { watchSingle, type SingleFile } from "./watched-file.ts";

export interface WatchedFile {
  /** Checks the files; true if there is something new. */
  look(): Promise<boolean>;
  /** The last usable contents, the weakest first: what is included, then the file itself. */
  roots(): readonly ConfigNode[];
  /** The current contents as written, right or wrong, in the same order. */
  trees(): readonly ConfigNode[];
  /** The problems of the current files. */
  problems(): readonly ConfigProblem[];
  /** All of the files, missing ones too, in the same order. */
  files(): readonly SingleFile[];
}

/** Reads the files; a named file must exist. `above`: the paths that lead to this file. */
export async function watchFile(
  file: ConfigFile,
  above: readonly string[] = [],
): Promise<WatchedFile> {
  const own = await watchSingle(file);
  const way = [...above, file.path];
  let included = await follow(own, [], way);
  const current = (): readonly ConfigNode[] => {
    const root = own.root();
    return [...roots(included), ...(root === null ? [] : [root])];
  };
  // A list that cannot be followed leaves what was included before.
  let usable = current();
  return {
    look: async () => {
      const isNew = await own.look();
      if (isNew) included = await follow(own, included, way);
      const looked = await Promise.all(included.map(async ({ watched }) => watched?.look()));
      if (missing(included).length === 0) usable = current();
      return isNew || looked.includes(true);
    },
    roots: () => usable,
    trees: () => {
      const tree = own.tree();
      return [
        ...included.flatMap(({ watched }) => watched?.trees() ?? []),
        ...(tree === null ? [] : [tree]),
      ];
    },
    problems: () => [
      ...included.flatMap(({ watched }) => watched?.problems() ?? []),
      ...missing(included),
      ...own.problems(),
    ],
    files: () => [...included.flatMap(({ watched }) => watched?.files() ?? []), own],
  };
}

interface Included {
  readonly path: string;
  readonly named: IncludedPath;
  /** Null for a file that leads back to itself. */
  readonly watched: WatchedFile | null;
}

/** The files that are included now. Those that were included before are kept as they are. */
async function follow(
  own: SingleFile,
  before: readonly Included[],
  way: readonly string[],
): Promise<readonly Included[]> {
  const { file } = own;
  const named = file.isFound ? [] : includedPaths(own.root() ?? own.tree());
  return Promise.all(
    named.map(async (each): Promise<Included> => {
      const path = toPath(each.value, file.path);
      const known = before.find((other) => other.path === path)?.watched;
      const isCircle = way.includes(path);
      const make = async (): Promise<WatchedFile> => watchFile(toIncluded(file, path), way);
      return { path, named: each, watched: isCircle ? null : (known ?? (await make())) };
    }),
  );
}

function toIncluded({ include }: ConfigFile, path: string): ConfigFile {
  return include?.(path) ?? { path, isFound: false, isNamed: false };
}

function toPath(written: string, from: string): string {
  const path = written.startsWith("~/") ? join(homedir(), written.slice(2)) : written;
  return resolve(dirname(from), path);
}

function roots(included: readonly Included[]): readonly ConfigNode[] {
  return included.flatMap(({ watched }) => watched?.roots() ?? []);
}

/** Files that are not there, and circles. A file that was there before reports its own loss. */
function missing(included: readonly Included[]): readonly ConfigProblem[] {
  return included.flatMap(({ path, named: { value, origin }, watched }) => {
    if (watched === null) {
      return [error(origin, `include leads back to ${path}`, "remove one of the two includes")];
    }
    const isThere = watched.files().at(-1)?.isThere() === true || watched.roots().length > 0;
    const message = `include names ${value}, and there is no such file`;
    const hint = "write it, or correct the path: it begins at the folder of this file";
    return isThere ? [] : [error(origin, message, hint)];
  });
}

function error(origin: Origin, message: string, hint: string): ConfigProblem {
  return { severity: "error", origin, message, hint };
}
