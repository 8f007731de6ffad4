// The whole of an output that was cut, as a file of the workspace that the read tool can read.
import { hashContent } from "../../core/hash.ts";
import type { ScopedFiles } from "../stores/scoped-files.ts";

/** Keeps a text and returns the path it can be read at. */
export type KeepOutput = (toolUseId: string, text: string) => Promise<string>;

export interface KeptOutputs {
  /** What is longer loses its end. */
  readonly bytesMax: number;
  /** The oldest are removed when there are more. */
  readonly filesMax: number;
}

const kept: KeptOutputs = { bytesMax: 8_000_000, filesMax: 100 };

/** Keeps outputs below the workspace's own folder: `.strata`, or `.metis` where only that is there. */
export function keepInWorkspace(
  workspace: ScopedFiles,
  { bytesMax, filesMax }: KeptOutputs = kept,
): KeepOutput {
  return async (toolUseId, text) => {
    const folder = `${await stateFolderOf(workspace)}/outputs`;
    const path = `${folder}/${toFileName(toolUseId)}`;
    await workspace.writeFile(path, cutEnd(text, bytesMax));
    await removeOldest(workspace, folder, filesMax);
    return path;
  };
}

/** Making the other one as well would hide what is in the one that is there. */
async function stateFolderOf(workspace: ScopedFiles): Promise<".strata" | ".metis"> {
  if ((await workspace.stat(".strata")) !== null) return ".strata";
  return (await workspace.stat(".metis")) === null ? ".strata" : ".metis";
}

/** Ids come from a provider; a file name is made of what is harmless in them and a hash of the rest. */
function toFileName(toolUseId: string): string {
  const readable = toolUseId.replaceAll(/[^A-Za-z0-9_-]/g, "").slice(0, 40);
  return `${readable}-${hashContent(toolUseId).slice(0, 8)}.txt`;
}

function cutEnd(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  const start = new TextDecoder().decode(bytes.subarray(0, bytesMax), { stream: true });
  return `${start}\n\n[${bytes.length - bytesMax} more bytes were not kept]\n`;
}

async function removeOldest(
  workspace: ScopedFiles,
  folder: string,
  filesMax: number,
): Promise<void> {
  const files = (await workspace.list(folder)).filter(({ kind }) => kind === "file");
  if (files.length <= filesMax) return;
  const dated = await Promise.all(
    files.map(async ({ name }) => {
      const path = `${folder}/${name}`;
      return { path, mtimeMs: (await workspace.stat(path))?.mtimeMs ?? 0 };
    }),
  );
  dated.sort((left, right) => left.mtimeMs - right.mtimeMs);
  for (const { path } of dated.slice(0, files.length - filesMax)) await workspace.remove(path);
}
