// Limits what the model sees of a tool's output. The full text is stored as a workspace file for the read tool.
import { hashContent } from "../../../core/hash.ts";
import { countBytes, cutMiddle } from "../../../core/layers/cut-middle.ts";
import { cutOutput, type LeftOut } from "../../../core/tools/cut-output.ts";
import { ToolError, type ToolCallContext, type ToolOutput } from "../../../core/tools/tool.ts";
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

const keptMax: KeptOutputs = { bytesMax: 8_000_000, filesMax: 100 };

/** Stores outputs below the workspace's own folder: `.strata`, or `.metis` if only that exists. */
export function keepInWorkspace(
  workspace: ScopedFiles,
  { bytesMax, filesMax }: KeptOutputs = keptMax,
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

export interface LimitedOutput {
  readonly text: string;
  /** The size of the whole output. */
  readonly bytes: number;
}

export async function limitOutput(
  use: KeptUse,
  output: ToolOutput,
  bytesMax: number,
  options: {
    readonly keepOutput?: KeepOutput;
    readonly onProblem?: (problem: unknown) => void;
  },
): Promise<LimitedOutput> {
  // Tools may come from plain JavaScript.
  const given: unknown = output?.text;
  if (typeof given !== "string") throw new ToolError("execution_error", "the tool gave no text");
  const whole = given.toWellFormed();
  const bytes = countBytes(whole);
  if (bytes <= bytesMax) return { text: whole, bytes };
  const kept = await keep(use, whole, options);
  const { text } = cutOutput(whole, bytesMax, (left) => describe(left, kept));
  return { text, bytes };
}

async function keep(
  use: KeptUse,
  text: string,
  { keepOutput, onProblem }: Parameters<typeof limitOutput>[3],
): Promise<KeptOutput | null> {
  try {
    return (await keepOutput?.(use, text)) ?? null;
  } catch (error) {
    onProblem?.(error);
    return null;
  }
}

function describe(left: LeftOut, kept: KeptOutput | null): string {
  const { bytesLeftOut, bytesOfAll, fromLine, toLine } = left;
  const where = `lines ${fromLine} to ${toLine}`;
  const what = `${bytesLeftOut} of ${bytesOfAll} bytes are left out here, ${where}`;
  if (kept === null) return `${what}; they were not kept. Ask for less, or for a part`;
  const isWhole = kept.bytes >= bytesOfAll;
  const part = isWhole ? "The result is kept" : `Its first ${kept.bytes} bytes are kept`;
  return `${what}. ${part} in ${kept.path}: read it with offset ${fromLine}`;
}
