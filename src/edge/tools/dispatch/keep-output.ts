// Stores the full text of a shortened output as a workspace file for the read tool.
import { hashContent } from "../../../core/hash.ts";
import { countBytes, cutMiddle } from "../../../core/layers/cut-middle.ts";
import type { ToolCallContext } from "../../../core/tools/tool.ts";
import type { ScopedFiles } from "../../files/guard/scoped-files.ts";
import { findStateFolder } from "../../files/workspace-folders.ts";

/** Stores a text, or as much of its beginning as it can. */
export type KeepOutput = (use: KeptUse, text: string) => Promise<KeptOutput>;

/** The owner of an output. Providers may repeat tool use ids across sessions or turns. */
export type KeptUse = Pick<ToolCallContext, "sessionId" | "turnId" | "toolUseId">;

export interface KeptOutput {
  /** Where the read tool finds it. */
  readonly path: string;
  /** Stored bytes. All of them if nothing is missing. */
  readonly bytes: number;
}

export interface KeptOutputs {
  /** A longer text loses its end. */
  readonly bytesMax: number;
  /** The oldest files beyond this are removed. */
  readonly filesMax: number;
}

const kept: KeptOutputs = { bytesMax: 8_000_000, filesMax: 100 };

/** Stores outputs below the workspace's own folder: `.strata`, or `.metis` if only that exists. */
export function keepInWorkspace(
  workspace: ScopedFiles,
  { bytesMax, filesMax }: KeptOutputs = kept,
): KeepOutput {
  return async (use, text) => {
    const folder = `${await findStateFolder(workspace)}/outputs`;
    const path = `${folder}/${toFileName(use)}`;
    const { content, bytes } = cutEnd(text, bytesMax);
    await workspace.writeFile(path, content);
    await removeOldest(workspace, folder, filesMax);
    return { path, bytes };
  };
}

/** The harmless characters of the id, for recognition, and a hash of the full identity. */
function toFileName({ sessionId, turnId, toolUseId }: KeptUse): string {
  const readable = toolUseId.replaceAll(/[^A-Za-z0-9_-]/g, "").slice(0, 40);
  const hash = hashContent(JSON.stringify([sessionId, turnId, toolUseId]));
  return `${readable}-${hash.slice(0, 16)}.txt`;
}

function cutEnd(
  text: string,
  bytesMax: number,
): { readonly content: string; readonly bytes: number } {
  const bytesOfAll = countBytes(text);
  if (bytesOfAll <= bytesMax) return { content: text, bytes: bytesOfAll };
  const { head, bytesLeftOut } = cutMiddle(text, bytesMax, "the beginning");
  const content = `${head}\n\n[${bytesLeftOut} more bytes were not kept]\n`;
  return { content, bytes: bytesOfAll - bytesLeftOut };
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
