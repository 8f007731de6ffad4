// Writes the shared beginning of paths once: folders with their names, and nested folders under the longest shared one.

export interface Folder {
  /** Ends with its separator. */
  readonly folder: string;
  readonly names: readonly string[];
}

export interface OuterFolder extends Folder {
  /** Relative to the outer one. */
  readonly below: readonly Folder[];
}

/** Sorted by code unit. A folder alone stays on top; a folder with others inside has them below it. */
export function groupFolders(paths: readonly string[]): readonly OuterFolder[] {
  const named = new Map<string, string[]>();
  for (const path of paths.toSorted()) {
    const cut = splitAt(path);
    const folder = path.slice(0, cut);
    const names = named.get(folder) ?? [];
    names.push(path.slice(cut));
    named.set(folder, names);
  }
  const waiting = new Set(named.keys());
  const outer: OuterFolder[] = [];
  for (let base = bestBase(waiting); base !== null; base = bestBase(waiting)) {
    const root = base;
    const inside = [...waiting].filter((folder) => folder.startsWith(root)).toSorted();
    for (const folder of inside) waiting.delete(folder);
    outer.push({
      folder: root,
      names: named.get(root) ?? [],
      below: inside
        .filter((folder) => folder !== root)
        .map((folder) => ({ folder: folder.slice(root.length), names: named.get(folder) ?? [] })),
    });
  }
  for (const folder of waiting) outer.push({ folder, names: named.get(folder) ?? [], below: [] });
  return outer.toSorted((left, right) => (left.folder < right.folder ? -1 : 1));
}

/** After the last separator that is not the end of the path. */
function splitAt(path: string): number {
  const mark = path.includes("/") ? "/" : "\\";
  return path.lastIndexOf(mark, path.length - 2) + 1;
}

/** The cost of a line for the shared folder, in characters. */
const lineCharacters = 6;

/** The folder whose repetition takes the most characters. Null if sharing saves nothing. */
function bestBase(folders: ReadonlySet<string>): string | null {
  const counts = new Map<string, number>();
  for (const folder of folders) {
    for (const ancestor of ancestorsOf(folder)) {
      counts.set(ancestor, (counts.get(ancestor) ?? 0) + 1);
    }
  }
  let [best, saved] = ["", 0];
  for (const [ancestor, count] of counts) {
    // A folder that has names needs its line anyway.
    const lines = folders.has(ancestor) ? 0 : lineCharacters;
    const saves = (count - 1) * ancestor.length - lines;
    const isLonger = saves === saved && ancestor > best;
    if (count > 1 && (saves > saved || isLonger)) [best, saved] = [ancestor, saves];
  }
  return best === "" ? null : best;
}

const ancestorsMax = 40;

function ancestorsOf(folder: string): readonly string[] {
  const found: string[] = [];
  for (
    let at = folder.indexOf("/");
    at !== -1 && found.length < ancestorsMax;
    at = folder.indexOf("/", at + 1)
  ) {
    if (at > 0) found.push(folder.slice(0, at + 1));
  }
  return found;
}
