// Limits what the model sees of a tool's output. The read tool finds the rest.
import { countBytes } from "../../../core/layers/cut-middle.ts";
import { cutOutput, type LeftOut } from "../../../core/tools/cut-output.ts";
import { ToolError, type ToolOutput } from "../../../core/tools/tool.ts";
import type { KeepOutput, KeptOutput, KeptUse } from "./keep-output.ts";

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
