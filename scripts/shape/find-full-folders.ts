// Folders with more files than a reader can take in; about 25 are meant, so the limit leaves a few for a change in the making.
import { dirname } from "node:path";

const filesMax = 30;

export interface FullFolder {
  readonly folder: string;
  readonly files: number;
}

export function findFullFolders(files: readonly string[]): readonly FullFolder[] {
  const folders = Map.groupBy(files, (file) => dirname(file));
  return [...folders]
    .map(([folder, { length }]) => ({ folder, files: length }))
    .filter(({ files: count }) => count > filesMax);
}
